/** Cases of persons who have left, through the interface. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

let made = 0;
const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);
const add = async (userName = `leaver.${++made}`) => data(await call('POST', '/api/people', { userName }));
const bound = async (userId: string): Promise<string> => {
  const device = await register(daemon);
  return data(await call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
};
const leave = (personId: string) => call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
const caseOf = async (personId: string) => data(await call('GET', `/api/people/${personId}/case`));
const close = (personId: string) => call('POST', `/api/people/${personId}/case/close`);
const lastEvents = async (types: string, limit = 1) =>
  data(await call('GET', `/api/events?types=${types}&before=999999&limit=${limit}`)).list;

it('opens with the leave and has all spellings of the name, with what has ended', async () => {
  const { personId } = await add('Case.Zoe\u0301');
  const deviceId = await bound('CASE.ZOÉ');
  expect(await call('GET', `/api/people/${personId}/case`)).toMatchObject({ code: 404 });
  await leave(personId);
  const { opened, closed, items } = await caseOf(personId);
  expect([opened, closed]).toEqual([data(await call('GET', `/api/people/${personId}`)).leftAt, null]);
  expect(items).toEqual([{ kind: 'device', id: deviceId, state: 'closed', reason: 'LOCKED' }]);
  expect(await lastEvents('CASE_OPENED')).toMatchObject([{ data: { personId, source: 'local' } }]);
  // A repeated leave has the same case.
  await leave(personId);
  expect(await lastEvents('CASE_OPENED', 2)).toHaveLength(1);
});

it('shows account, session and tokens, and what is open follows the registry', async () => {
  const { personId, userName } = await add();
  const account = await daemon.user(userName.toUpperCase(), 'ADMIN');
  const { tokenId } = data(
    await daemon.call(
      'POST',
      '/api/tokens',
      { name: 'case', role: 'VIEWER', expiresInDays: 1 },
      { token: account.token },
    ),
  );
  const deviceId = await bound(userName);
  await leave(personId);
  const { items } = await caseOf(personId);
  const states = items.map(({ kind, id, state }: Record<string, string>) => [kind, id, state]);
  const [[, accountId]] = states.filter(([kind]: string[]) => kind === 'account');
  expect(states).toEqual([
    ['account', accountId, 'closed'],
    ['session', accountId, 'closed'],
    ['token', tokenId, 'closed'],
    ['device', deviceId, 'closed'],
  ]);
  data(await call('POST', `/api/devices/${deviceId}/unlock`, {}));
  data(await call('PUT', `/api/users/${accountId}`, { disabled: false }));
  const open = (await caseOf(personId)).items.filter(({ state }: { state: string }) => state === 'open');
  expect(open.map(({ kind }: { kind: string }) => kind)).toEqual(['account', 'session', 'device']);
  const { list } = data(await call('GET', '/api/people/cases?open=true&size=100'));
  expect(list.find((one: { personId: string }) => one.personId === personId)).toMatchObject({
    userName,
    open: 3,
    kept: 0,
    next: { kind: 'account', id: accountId },
  });
});

it('closes when each item is ended or kept, and then stays as it is', async () => {
  const { personId, userName } = await add();
  const [kept, ended] = [await bound(userName), await bound(userName)];
  await leave(personId);
  for (const id of [kept, ended]) data(await call('POST', `/api/devices/${id}/unlock`, {}));
  expect(await close(personId)).toMatchObject({
    code: 1001,
    message: expect.stringContaining(`device ${kept}, device ${ended}`),
  });
  const keep = (id: string) =>
    call('POST', `/api/people/${personId}/case/keep`, { kind: 'device', id, reason: 'shared key' });
  expect(await keep('DEV-99999')).toMatchObject({ code: 1001 });
  const item = { kind: 'device', id: kept, state: 'kept', reason: 'shared key' };
  expect(data(await keep(kept)).items).toContainEqual(item);
  data(await call('POST', `/api/devices/${ended}/lock`, { reason: 'has left' }));
  expect(await keep(ended)).toMatchObject({ code: 1001, message: expect.stringContaining('is closed') });
  const done = data(await close(personId));
  expect(done).toEqual({
    opened: expect.any(String),
    closed: expect.any(String),
    items: [item, { kind: 'device', id: ended, state: 'closed', reason: 'LOCKED' }],
  });
  data(await call('POST', `/api/devices/${ended}/unlock`, {}));
  expect([await caseOf(personId), data(await close(personId))]).toEqual([done, done]);
  expect(await lastEvents('CASE_CLOSED')).toMatchObject([
    { data: { personId, end: 'closed' }, actor: { name: 'admin' } },
  ]);
  const listed = async (query: string) => data(await call('GET', `/api/people/cases?size=100&${query}`)).list;
  const has = async (query: string) =>
    (await listed(query)).some((one: { personId: string }) => one.personId === personId);
  expect([await has(''), await has('open'), await has('open=true'), await has('open=false')]).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

it('ends when the person comes back, and another leave opens a new one', async () => {
  const { personId } = await add();
  await leave(personId);
  data(await call('POST', `/api/people/${personId}/return`));
  expect(await caseOf(personId)).toMatchObject({ closed: expect.any(String), items: [] });
  expect(await lastEvents('CASE_CLOSED')).toMatchObject([{ data: { personId, end: 'returned' } }]);
  await leave(personId);
  expect(await caseOf(personId)).toMatchObject({ closed: null });
  expect(await lastEvents('CASE_OPENED')).toMatchObject([{ data: { personId } }]);
});

it('does not show the account of another person who has the name now', async () => {
  const token = data(
    await call('POST', '/api/tokens', { name: 'case-scim', role: 'VIEWER', expiresInDays: 1, may: ['scim'] }),
  ).token;
  const post = async (userName: string, externalId: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
    const body = JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName,
      externalId,
      active: true,
    });
    return (await fetch(`${daemon.url}/scim/v2/Users`, { method: 'POST', headers, body })).json() as Promise<{
      id: string;
    }>;
  };
  const first = await post('reused.name', 'one');
  await fetch(`${daemon.url}/scim/v2/Users/${first.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  });
  await post('reused.name', 'two');
  await daemon.user('reused.name', 'VIEWER');
  expect(await caseOf(first.id)).toMatchObject({ closed: null, items: [] });
});
