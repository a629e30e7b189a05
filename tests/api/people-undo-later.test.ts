/** A batch is undone after more has happened: an erasure, a new person with a former name, an undo before. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { patchOp, scimClientWith } from '../support/scim.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
});
afterEach(() => daemon?.stop());

const call = (method: string, path: string, body?: object) => daemon.call(method, path, body);
const add = async (userName: string) => data(await call('POST', '/api/people', { userName })).personId as string;
const leave = async (personId: string) => data(await call('POST', `/api/people/${personId}/leave`, { reason: 'left' }));
const bound = async (userId: string): Promise<string> => {
  const device = await register(daemon);
  return data(await call('POST', '/api/devices/activate', activation(device, userId))).deviceId;
};
const detail = async (deviceId: string) => data(await call('GET', `/api/devices/${deviceId}`));
/** Returns the batch. */
const match = async (...matches: object[]) => {
  const answer = await call('POST', '/api/people/match', { matches });
  expect(data(answer)).toMatchObject({ failed: 0 });
  return { requestId: answer.headers.get('x-request-id')! };
};
const undo = async (body: object) => data(await call('POST', '/api/people/undo', body)).list;

it('takes no device and no account from a person who was erased', async () => {
  const personId = await add('ada');
  const deviceId = await bound('Ada Lovelace');
  data(await call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' }));
  const account = await daemon.user('ada.l', 'VIEWER');
  const batch = await match({ deviceId, personId }, { accountId: account.id, personId });
  await leave(personId);
  data(await call('POST', `/api/people/${personId}/case/close`));
  data(await call('POST', `/api/people/${personId}/erase`, { confirmPassword: adminPassword }));
  const reason = 'the person was erased';
  expect(await undo(batch)).toMatchObject([
    { kind: 'account', id: account.id, outcome: 'left', reason },
    { kind: 'device', id: deviceId, outcome: 'left', reason },
  ]);
  expect(await detail(deviceId)).toMatchObject({ userId: personId, personId });
});

it('gives a device to the person who was added for its former name, and not to one who has left', async () => {
  const [first, second] = [await bound('ben'), await bound('cleo')];
  const personId = await add('ada');
  const batch = await match({ deviceId: first, personId }, { deviceId: second, personId });
  const [ben, cleo] = [await add('ben'), await add('cleo')];
  await leave(cleo);
  const expected = [
    { id: second, outcome: 'left', reason: `${cleo}, the person of the device, has left` },
    { id: first, outcome: 'restored' },
  ];
  expect(await undo({ ...batch, dryRun: true })).toMatchObject(expected);
  expect(await undo(batch)).toMatchObject(expected);
  expect(await detail(first)).toMatchObject({ userId: 'ben', personId: ben });
  expect(await detail(second)).toMatchObject({ userId: 'ada', personId });
  expect(await undo(batch)).toMatchObject([expected[0], { id: first, outcome: 'unchanged' }]);
});

it('keeps a newcomer aside when the same actor repeats the undo', async () => {
  const token = { name: 'both', role: 'ADMIN', expiresInDays: 1, may: ['scim'] };
  const made = data(await call('POST', '/api/tokens', token)).token;
  const scim = scimClientWith(() => daemon.url, made);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const post = async (userName: string) =>
    (await scim('POST', '/Users', { schemas, userName, active: true })).body.id as string;
  const ada = await add('ada');
  const batch = { actor: 'token:both', from: new Date(0).toISOString() };
  await scim('PATCH', `/Users/${ada}`, patchOp({ op: 'replace', path: 'userName', value: 'spare' }));
  const newcomer = await post('ada');
  const steps = async () => data(await daemon.call('POST', '/api/people/undo', batch, { token: made })).list;
  expect(await steps()).toMatchObject([{ id: ada, outcome: 'restored' }]);
  expect((await steps()).filter(({ outcome }: { outcome: string }) => outcome !== 'unchanged')).toEqual([]);
  expect(data(await call('GET', `/api/people/${newcomer}`))).toMatchObject({ userName: newcomer, active: false });
});
