/** Persons of an identity provider are compared with its users: a push that never came hides no leaver. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { startEntra, startOkta } from '../support/issuing-providers.ts';
import { type ScimCall, scimClient } from '../support/scim.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const kinds = { entra: startEntra, okta: startOkta } as const;

describe.each(['entra', 'okta'] as const)('%s', kind => {
  let daemon: TestDaemon;
  let scim: ScimCall;
  let provider: Awaited<ReturnType<typeof startEntra | typeof startOkta>>;
  beforeEach(async () => {
    provider = await kinds[kind]();
    daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1', 'localhost'] });
    scim = await scimClient(daemon);
    provider.state.pages.size = 2;
  });
  afterEach(() => daemon?.stop());

  const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);
  const addProvider = async () => data(await call('POST', '/api/providers', { name: 'Acme', ...provider.settings }));
  const compare = async (body: object = {}) => data(await call('POST', '/api/people/drift', body));
  const drift = async () => data(await call('GET', '/api/people/check')).drift;
  const add = async (userName: string, externalId: string | null = null) => {
    const more = externalId === null ? {} : { externalId };
    return (await scim('POST', '/Users', { schemas: [USER], userName, active: true, ...more })).body.id as string;
  };
  const bound = async (userId: string) => {
    const device = await register(daemon);
    return data(await call('POST', '/api/devices/activate', activation(device, userId))).deviceId as string;
  };
  const at = (id: string, userName: string, isActive = true) => ({ id, userName, isActive });

  it('finds those who are gone or disabled there, and ends them only with apply', async () => {
    await addProvider();
    const [gone, disabled] = [await add('gone@x.org', 'id-gone'), await add('Disabled@x.org')];
    await add('renamed@x.org', 'id-renamed');
    for (const name of ['one', 'two', 'three']) await add(`${name}@x.org`);
    data(await call('POST', '/api/people', { userName: 'local@x.org' }));
    provider.state.users = [
      at('1', 'one@x.org'),
      at('2', 'TWO@x.org'),
      at('3', 'three@x.org'),
      at('id-renamed', 'new.name@x.org'),
      at('5', 'disabled@x.org', false),
      at('6', 'not.assigned@x.org'),
    ];
    const devices = [await bound('gone@x.org'), await bound('disabled@x.org')];
    const found = await compare();
    expect(found).toMatchObject({ providers: ['Acme'], problem: null, read: 6, unknown: 1, total: 2 });
    const listed = [
      { personId: gone, userName: 'gone@x.org', why: 'gone' },
      { personId: disabled, userName: 'Disabled@x.org', why: 'disabled' },
    ];
    expect(found.list).toEqual(listed.map(one => ({ ...one, outcome: 'active' })));
    expect(await drift()).toBe(2);
    expect(data(await call('GET', `/api/devices/${devices[0]}`)).status).toBe('ACTIVE');

    expect((await compare({ apply: true })).list).toEqual(listed.map(one => ({ ...one, outcome: 'left' })));
    for (const id of devices) expect(data(await call('GET', `/api/devices/${id}`)).status).toBe('LOCKED');
    expect(await drift()).toBe(0);
    expect((await compare()).list).toEqual([]);
    expect(data(await call('GET', `/api/people/${gone}/case`))).toMatchObject({ closed: null });
  });

  it('is braked, and is not believed if the answer is incomplete', async () => {
    await addProvider();
    const names = Array.from({ length: 30 }, (_, i) => `person.${i}@x.org`);
    for (const name of names) {
      await add(name);
      await bound(name);
    }
    const users = names.map((name, i) => at(`id-${i}`, name, i % 2 === 0));
    const refused = async (words: string) => {
      const answer = await compare({ apply: true });
      expect(answer).toMatchObject({ problem: expect.stringContaining(words), total: 0, list: [] });
    };
    await refused('no users');
    provider.state.users = users.slice(0, 10);
    await refused('10 of 30 known persons');
    provider.state.users = null;
    await refused('Acme');
    provider.state.users = users;
    provider.state.pages.next = 'http://other.invalid/api/v1/users?after=2';
    await refused('another address');
    provider.state.pages.next = null;

    const { list } = await compare({ apply: true });
    const outcomes = list.map(({ outcome }: { outcome: string }) => outcome);
    expect([outcomes.length, outcomes.includes('left'), outcomes.at(-1)]).toEqual([15, true, 'held']);
    const held = data(await call('GET', '/api/people/held')).list;
    expect(held.length).toBe(outcomes.filter((outcome: string) => outcome === 'held').length);
  });

  it('is made once a day without a request, and changes nothing', async () => {
    provider.state.users = [at('1', 'stays@x.org')];
    for (const name of ['stays@x.org', 'left@x.org']) await add(name);
    expect(await compare()).toMatchObject({ problem: expect.stringContaining('no provider'), providers: [] });
    await addProvider();
    expect(await drift()).toBe(0);
    // A daemon looks when it takes the work.
    await daemon.restart();
    await vi.waitFor(async () => expect(await drift()).toBe(1), { timeout: 10_000 });
    const { list } = data(await call('GET', '/api/people/list?active=true'));
    expect(list).toHaveLength(2);
  });
});
