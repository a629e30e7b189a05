/** Persons from Active Directory, as Samba serves it. DEVMGR_AD_PERSONS: how many. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GROUPS, groupsIn } from '../../daemon/people/policy.ts';
import { openDirectorySync } from '../support/directory-sync.ts';
import { needs } from '../support/needs.ts';
import { DISABLED, type Domain, ENABLED, reading, startDomain } from './samba.ts';

const count = Number(process.env.DEVMGR_AD_PERSONS ?? 20_000);
const signal = new AbortController().signal;
/** The domain has an administrator, the reader and dns-dc as well; other accounts of its own are disabled. */
const own = 3;

needs(['samba', 'samba-tool', 'openssl'], 'samba-ad-dc')(`an Active Directory with ${count} persons`, () => {
  let domain: Domain;
  let opened: Awaited<ReturnType<typeof openDirectorySync>>;
  beforeAll(async () => {
    domain = await startDomain(Array.from({ length: count }, (_, i) => `person-${i}`));
    opened = await openDirectorySync(Date.now);
    const dn = await domain.group('staff', ['person-0', 'person-1']);
    await opened.set({ ...reading, ca: domain.ca, groups: [{ name: 'staff', dn }] });
  });
  afterAll(async () => {
    await domain?.stop();
    await opened?.cleanup();
  });

  const run = async (isAll: boolean) => (await opened.sync.run({ isAll }, signal)).counts;
  const find = (userName: string) => opened.store.personByName(userName);
  const nothing = { new: 0, changed: 0, left: 0, back: 0, held: 0, skipped: 0 };

  it('is recognized, with a certificate that is verified and numbers of changes', async () => {
    const { ok, findings } = await opened.settings.test(signal);
    expect(findings.filter(finding => !finding.ok)).toEqual([]);
    expect(ok).toBe(true);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'server', detail: 'Active Directory' }));
    expect(findings).toContainEqual(expect.objectContaining({ check: 'changes', detail: 'by uSNChanged' }));
  });

  it('is read whole, without its disabled accounts, and no reference is followed', async () => {
    expect(await run(true)).toMatchObject({ ...nothing, new: count + own });
    expect(await find('krbtgt')).toBeNull();
    expect(await find('person-7')).toMatchObject({
      email: 'person-7@example.com',
      externalId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      groups: [],
    });
    expect((await find('person-1'))!.groups).toHaveLength(1);
  });

  it('is asked for what changed: names, units, addresses and disabled accounts', async () => {
    const { number } = (await find('person-100'))!;
    for (let i = 0; i < 100; i++) {
      await domain.change(`person-${100 + i}`, 'sAMAccountName', `renamed-${i}`);
      await domain.move(`person-${200 + i}`, `moved-${i}`);
      await domain.change(`person-${300 + i}`, 'mail', `new-${i}@example.com`);
      await domain.change(`person-${400 + i}`, 'userAccountControl', DISABLED);
      await domain.remove(`person-${500 + i}`);
    }
    const counts = await run(false);
    expect(counts).toEqual({ ...nothing, read: 400, changed: 300, left: 100 });
    expect(await find('renamed-0')).toMatchObject({ number, active: true });
    expect(await find('person-200')).toMatchObject({ name: 'moved-0', active: true, removedAt: null });
    expect(await find('person-400')).toMatchObject({ active: false });
    expect(await run(false)).toEqual({ ...nothing, read: 0 });
  });

  it('shows to a whole run who was removed, and an account that is enabled again brings its person back', async () => {
    expect(await run(true)).toMatchObject({ ...nothing, left: 100 });
    await domain.change('person-400', 'userAccountControl', ENABLED);
    expect(await run(false)).toEqual({ ...nothing, read: 1, back: 1 });
    expect(await find('person-400')).toMatchObject({ active: true });
  });

  it('leaves out an account that has expired, and brings back one whose end is later', async () => {
    await domain.change('person-600', 'accountExpires', timeOf(Date.now() - 60_000));
    await domain.change('person-601', 'accountExpires', timeOf(Date.now() + 3_600_000));
    expect(await run(false)).toMatchObject({ ...nothing, read: 2, left: 1 });
    expect(await find('person-600')).toMatchObject({ active: false });
    await domain.change('person-600', 'accountExpires', '0');
    expect(await run(false)).toEqual({ ...nothing, read: 1, back: 1 });
  });

  it('counts a group that only the primary group names, and the members of groups inside a group, also in a circle', async () => {
    const deep = await domain.group('deep (a*b)', ['person-12']);
    const inner = await domain.group('inner', ['person-11', 'person-13', deep]);
    const outer = await domain.group('outer', ['person-10', inner]);
    await domain.nest(deep, outer);
    await domain.makePrimary('person-13', inner);
    const primary = await domain.group('primary', ['person-14']);
    await domain.makePrimary('person-14', primary);
    const groups = [outer, primary].map(dn => ({ name: dn.slice(3, dn.indexOf(',')), dn }));
    await opened.set({ ...reading, ca: domain.ca, groups });
    await run(true);
    const { list: stored } = groupsIn(await opened.store.document(GROUPS));
    const of = async (n: number) =>
      (await find(`person-${n}`))!.groups.map(number => stored.find(group => group.number === number)!.name);
    expect(await Promise.all([10, 11, 12, 13, 14].map(of))).toEqual([
      ['outer'],
      ['outer'],
      ['outer'],
      ['outer'],
      ['primary'],
    ]);
  });
});

/** A time as accountExpires has it: parts of 100 ns since 1601. */
const timeOf = (ms: number) => String(BigInt(ms + 11_644_473_600_000) * 10_000n);
