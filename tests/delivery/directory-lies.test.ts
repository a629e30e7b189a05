/** Faults of a directory: it may swap names, and give several entries one id. */
import { expect, it, onTestFinished } from 'vitest';
import { detailsOf } from '../../daemon/directory/decisions.ts';
import { DirectorySync } from '../../daemon/directory/sync.ts';
import { create } from '../../daemon/people/decisions.ts';
import { Leavers } from '../../daemon/people/leavers.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import { addDevice, addUser, commit, setDevice } from '../contract/store/fixtures.ts';
import { openTemporary } from '../support/sqlite.ts';

type Named = readonly [id: string, userName: string];

/** Carries out what a run reads. */
async function setUp() {
  const { store, cleanup } = await openTemporary();
  onTestFinished(cleanup);
  const now = () => 1_800_000_000_000;
  let named: readonly Named[] = [];
  const rest = { name: null, email: null, isDisabled: false, groups: [] };
  const reader = {
    server: { position: null },
    canContinue: () => false,
    async *read() {
      yield {
        entries: named.map(([id, userName]) => ({ id, userName, ...rest })),
        skipped: [],
        left: [],
        changedAt: null,
      };
    },
  };
  const config = { url: 'ldap://127.0.0.1', groups: [] };
  const settings = {
    open: (_signal: AbortSignal, use: (...given: object[]) => Promise<unknown>) => use(reader, config),
    read: async () => ({ version: 1, config }),
    lastRun: async () => null,
  };
  const leavers = new Leavers({ store, policies: new PeoplePolicies({ store, now }) });
  const sync = new DirectorySync({
    store,
    leavers,
    refused: { add: async () => {} },
    settings: settings as never,
    now,
  });
  const signal = new AbortController().signal;
  const run = async (...entries: readonly Named[]) => {
    named = entries;
    return sync.run({ isAll: true }, signal);
  };
  const accept = () => sync.run({ isAll: true, acceptMissing: true }, signal);
  const dryRun = async (...entries: readonly Named[]) => {
    named = entries;
    return sync.run({ isAll: true, dryRun: true }, signal);
  };
  /** User names and ids of the directory of the persons, in the order in which they were added. */
  const persons = async () => {
    const { rows } = await store.people({ descending: false, offset: 0, limit: 99 });
    return rows.map(({ externalId, userName, active }) => [externalId, userName, active]);
  };
  return { store, run, accept, dryRun, persons };
}

it('two persons who swap their names keep their devices', async () => {
  const { store, run, persons } = await setUp();
  await run(['1', 'ada'], ['2', 'bob']);
  await commit(store, [addDevice('SN-1'), addDevice('SN-2')]);
  await commit(store, [
    setDevice(1, { status: 'ACTIVE', userId: 'ada' }),
    setDevice(2, { status: 'ACTIVE', userId: 'bob' }),
  ]);
  expect(await run(['1', 'bob'], ['2', 'Ada'])).toMatchObject({ counts: { changed: 2, skipped: 0 } });
  expect(await persons()).toEqual([
    ['1', 'bob', true],
    ['2', 'Ada', true],
  ]);
  expect((await Promise.all([1, 2].map(number => store.device(number)))).map(device => device?.userId)).toEqual([
    'bob',
    'Ada',
  ]);
});

it('an entry with another id and the name of a removed person is another person; with the id it is the person', async () => {
  const { store, run, dryRun, persons } = await setUp();
  await run(['1', 'ada'], ['2', 'bob']);
  await commit(store, [addDevice('SN-1')]);
  await commit(store, [setDevice(1, { status: 'ACTIVE', userId: 'ada' })]);
  await run(['2', 'bob']);
  expect(await dryRun(['2', 'bob'], ['3', 'Ada'])).toMatchObject({ counts: { new: 1, skipped: 0 } });
  expect(await run(['2', 'bob'], ['3', 'Ada'])).toMatchObject({ counts: { new: 1, back: 0, skipped: 0 } });
  expect(await persons()).toEqual([
    ['1', 'ada', false],
    ['2', 'bob', true],
    ['3', 'Ada', true],
  ]);
  expect(await store.device(1)).toMatchObject({ status: 'LOCKED', person: 1 });
  await run(['2', 'bob']);
  expect(await run(['1', 'ada'], ['2', 'bob'])).toMatchObject({ counts: { back: 1 } });
  expect((await persons())[0]).toEqual(['1', 'ada', true]);
});

it('names of many persons that are swapped wait for a release, and disable no more accounts than the brake allows', async () => {
  const { store, run } = await setUp();
  const named = Array.from({ length: 60 }, (_, i): Named => [`${i}`, `p${i}`]);
  await run(...named);
  await commit(store, [addUser('root', { role: 'ADMIN' }), ...named.map(([, name]) => addUser(name))]);
  await commit(
    store,
    named.map((_, i) => addDevice(`SN-${i}`)),
  );
  await commit(
    store,
    named.map(([, userId], i) => setDevice(i + 1, { status: 'ACTIVE', userId })),
  );
  const swapped = named.map(([id, name], i): Named => [id, i < 24 ? `p${i % 2 === 0 ? i + 1 : i - 1}` : name]);
  const disabled = async () =>
    (await store.users({ descending: false, offset: 0, limit: 99 })).rows.filter(one => one.disabled).length;
  for (let i = 0; i < 3; i++) await run(...swapped);
  expect(await disabled()).toBeLessThan(10);
});

it('names that move on from person to person are given in any order', async () => {
  const { run, persons } = await setUp();
  await run(['1', 'a'], ['2', 'b'], ['3', 'c'], ['4', 'd']);
  expect(await run(['1', 'b'], ['2', 'c'], ['3', 'd'], ['4', 'e'])).toMatchObject({ counts: { skipped: 0 } });
  expect((await persons()).map(([, userName]) => userName)).toEqual(['b', 'c', 'd', 'e']);
});

it('a person who takes the name of a local account keeps the earlier one, and the account is not disabled', async () => {
  const { store, run, persons } = await setUp();
  await run(['1', 'ada'], ['2', 'bob']);
  await commit(store, [addUser('root', { role: 'ADMIN' }), addUser('boss', { role: 'ADMIN' })]);
  const { list } = await run(['1', 'boss'], ['2', 'bob.2']);
  expect(list).toContainEqual(
    expect.objectContaining({ step: 'skipped', userName: 'boss', detail: expect.stringContaining('local account') }),
  );
  await run(['1', 'ada'], ['2', 'bob.2']);
  expect(await persons()).toEqual([
    ['1', 'ada', true],
    ['2', 'bob.2', true],
  ]);
  expect(await store.userByName('boss')).toMatchObject({ disabled: false });
});

it('new user names for more than half of the persons are believed only if they are accepted', async () => {
  const { store, run, accept, persons } = await setUp();
  const named = (suffix: string) => (i: number) => [`${i}`, `${i % 3 === 0 ? 'same' : suffix}-${i}`] as const;
  const numbers = Array.from({ length: 16 }, (_, i) => i);
  await run(...numbers.map(named('uid')));
  await commit(store, [addUser('uid-1'), addUser('root', { role: 'ADMIN' })]);
  const before = await persons();
  const doubted = await run(...numbers.map(named('mail')));
  expect(doubted).toMatchObject({ problem: expect.stringContaining('10 of 16'), counts: { changed: 0, left: 0 } });
  expect(await persons()).toEqual(before);
  expect(await store.userByName('uid-1')).toMatchObject({ disabled: false });
  expect(await accept()).toMatchObject({ problem: null, counts: { changed: 10, left: 0 } });
});

it('an id that several entries have changes no one, and no one leaves', async () => {
  const { run, persons } = await setUp();
  await run(['1', 'ada'], ['2', 'bob'], ['3', 'carl']);
  const { counts, list } = await run(['1', 'ada'], ['2', 'bob'], ['1', 'eve'], ['4', 'x'], ['4', 'y'], ['3', 'carl']);
  expect(counts).toMatchObject({ new: 0, changed: 0, left: 0, skipped: 2 });
  expect(list).toContainEqual(expect.objectContaining({ step: 'skipped', detail: 'another entry has the id 1 too' }));
  expect(await persons()).toEqual([
    ['1', 'ada', true],
    ['2', 'bob', true],
    ['3', 'carl', true],
  ]);
});

it.each<[what: string, ...Named[]]>([
  ['a name of another person', ['1', 'ada'], ['2', 'bob'], ['3', 'carl'], ['4', 'hand']],
  ['a name of a local account', ['1', 'boss'], ['2', 'bob'], ['3', 'carl']],
  ['a name that its person gives up', ['1', 'ada'], ['2', 'carl'], ['3', 'other'], ['4', 'Bob']],
  ['the name of an account that a new user name disables', ['1', 'x'], ['2', 'ada'], ['3', 'carl'], ['4', 'bob']],
  ['swapped names', ['1', 'ada'], ['2', 'carl'], ['3', 'bob']],
  ['a name of a person who leaves', ['1', 'ada'], ['2', 'carl'], ['4', 'bob']],
  ['a name that two entries want', ['1', 'ada'], ['2', 'bob'], ['3', 'carl'], ['4', 'new'], ['5', 'New']],
])('a dry run shows what the run then does with %s', async (_what, ...entries) => {
  const { store, run, dryRun, persons } = await setUp();
  await run(['1', 'ada'], ['2', 'bob'], ['3', 'carl']);
  const byHand = create({
    ...detailsOf({ id: 'H', userName: 'hand', name: null, email: null, isDisabled: false, groups: [] }, []),
    source: 'scim',
  });
  await commit(store, [addUser('root', { role: 'ADMIN' }), addUser('boss'), addUser('ada'), byHand]);
  const before = await persons();
  const { dryRun: _, list: foreseen, ...planned } = await dryRun(...entries);
  expect(await persons()).toEqual(before);
  const { dryRun: __, list: done, ...ran } = await run(...entries);
  const withoutIds = (list: typeof done) =>
    list.map(({ personId, ...step }) => (step.step === 'new' ? step : { personId, ...step }));
  expect([planned, withoutIds(foreseen)]).toEqual([ran, withoutIds(done)]);
});
