/** Webhooks across outages: of the receiver for a day, of the daemon at the worst moment, and of one of two daemons. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { backup, check, restore } from '../../daemon/maintenance/programs.ts';
import { day, holdClock, second } from '../support/clock.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { data, registration } from '../support/fleet.ts';
import { Nodes } from '../support/nodes.ts';
import { PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { startTwoDaemons } from '../support/two-daemons.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const settings = { webhookAllow: ['127.0.0.1'] };

type Caller = Pick<TestDaemon, 'call'>;
const create = async (daemon: Caller, url: string) => data(await daemon.call('POST', '/api/webhooks', { url }));
async function registered(daemon: Caller, token?: string): Promise<string> {
  const options = token === undefined ? {} : { token };
  return data(await daemon.call('POST', '/api/devices/register', registration(), options)).deviceId;
}

it('a receiver that was down for a day gets everything once, in order', async () => {
  const clock = holdClock();
  onTestFinished(() => clock.release());
  const daemon = await startTestDaemon(settings);
  onTestFinished(() => daemon.stop());
  const receiver = await startReceiver({ status: 503 });
  const { secret } = await create(daemon, receiver.url);
  const ids = [await registered(daemon)];
  let token = daemon.adminToken;
  const state = async () => data(await daemon.call('GET', '/api/webhooks/list', undefined, { token })).list[0];
  const started = Date.now();
  for (let failures = 1; ; failures++) {
    let now = await state();
    while (now.failures !== failures) now = await state();
    clock.forward(Date.parse(now.nextAttemptAt) - Date.now());
    token = await daemon.login('admin', adminPassword);
    // After a day the receiver is back: the attempt that was due after it finds it.
    if (Date.now() - started > day) receiver.answer({ status: 200 });
    // A new event also wakes the delivery, which waits by a real timer.
    ids.push(await registered(daemon, token));
    if (Date.now() - started > day) break;
  }
  while ((await state()).waiting > 0);
  const posts = receiver.verified(secret);
  expect(posts.map(({ event }) => event.data.deviceId)).toEqual(ids);
  expect(new Set(posts.map(({ id }) => id)).size).toBe(ids.length);
  expect(receiver.posts.length).toBe(7 + ids.length);
  expect(new Set(receiver.posts.slice(0, 8).map(({ id }) => id)).size).toBe(1);
  expect((await state()).state).toBe('active');
  expect(Date.now() - started).toBeGreaterThan(31 * 3600 * second);
});

it('an endpoint that fails for three days is disabled with the reason, and the journal records this', async () => {
  const clock = holdClock();
  onTestFinished(() => clock.release());
  const daemon = await startTestDaemon(settings);
  onTestFinished(() => daemon.stop());
  const receiver = await startReceiver({ status: 500 });
  await create(daemon, receiver.url);
  await registered(daemon);
  let token = daemon.adminToken;
  const state = async () => data(await daemon.call('GET', '/api/webhooks/list', undefined, { token })).list[0];
  for (let failures = 1; failures <= 10; failures++) {
    let now = await state();
    while (now.failures !== failures) now = await state();
    if (now.state === 'disabled') break;
    clock.forward(Date.parse(now.nextAttemptAt) - Date.now());
    token = await daemon.login('admin', adminPassword);
    await registered(daemon, token);
  }
  expect(await state()).toMatchObject({
    state: 'disabled',
    failures: 10,
    disabledReason: expect.stringMatching(/could not be delivered in 10 attempts/),
  });
  expect(receiver.posts).toHaveLength(10);
});

it('a daemon that is killed between a delivery and its note repeats that one message, with the same id', async () => {
  const home = temporaryFolder();
  const env = { DEVMGR_WEBHOOK_ALLOW: '127.0.0.1' };
  // It takes the messages and never answers, so that no delivery is noted.
  const receiver = await startReceiver(null);
  const first = await spawnDaemon({ home }, env);
  onTestFinished(() => first.kill());
  const made = (await first.call('POST', '/api/webhooks', { url: receiver.url })) as { data: { secret: string } };
  for (let n = 0; n < 3; n++) await first.call('POST', '/api/devices/register', registration());
  await receiver.arrived(1);
  await first.kill();
  receiver.answer({ status: 200 });
  const second = await spawnDaemon({ home }, env);
  onTestFinished(() => second.kill());
  await receiver.arrived(4);
  await second.stop();
  const ids = receiver.posts.map(({ id }) => id);
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
  expect(ids).toHaveLength(4);
  expect(receiver.verified(made.data.secret)).toHaveLength(3);
});

it('a backup has the webhooks as of its moment, sealed; restored, they continue from that moment', async () => {
  const home = temporaryFolder();
  const file = join(temporaryFolder(), 'copy.db');
  const env = { DEVMGR_WEBHOOK_ALLOW: '127.0.0.1' };
  const receiver = await startReceiver();
  const before = await spawnDaemon({ home }, env);
  onTestFinished(() => before.kill());
  const made = (await before.call('POST', '/api/webhooks', { url: receiver.url })) as { data: { secret: string } };
  await before.call('POST', '/api/devices/register', registration());
  await receiver.arrived(1);
  let waiting = 1;
  while (waiting > 0) {
    const listed = (await before.call('GET', '/api/webhooks/list')) as { data: { list: { waiting: number }[] } };
    waiting = listed.data.list[0]!.waiting;
  }
  expect((await runDaemonProgram(backup, { home, json: true, file })).code).toBe(0);
  await before.call('POST', '/api/devices/register', registration());
  await receiver.arrived(2);
  await before.stop();
  expect(readFileSync(file, 'latin1')).not.toContain(made.data.secret.slice('whsec_'.length));
  expect((await runDaemonProgram(restore, { home, json: true, file })).code).toBe(0);
  const after = await spawnDaemon({ home }, env);
  onTestFinished(() => after.kill());
  await after.call('POST', '/api/devices/register', registration());
  await receiver.arrived(3);
  await after.stop();
  const [, lost, later] = receiver.verified(made.data.secret);
  // The restore has undone the second event, whose id another one has got: a receiver must not drop that as a repeat.
  expect(later!.id).not.toBe(lost!.id);
  expect(receiver.posts).toHaveLength(3);
  expect((await runDaemonProgram(check, { home, json: true })).code).toBe(0);
  const db = new Database(join(home, 'devmgr.db'));
  db.exec(`UPDATE document SET value = replace(value, '127.0.0.1', '127.0.0.2') WHERE name = 'webhooks'`);
  db.close();
  const tampered = await runDaemonProgram(check, { home, json: true });
  expect(tampered).toMatchObject({ code: 1, stdout: expect.stringContaining('the document webhooks was changed') });
});

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());

it('of two daemons one delivers, and the other takes over', async () => {
  const daemons = await startTwoDaemons(server, settings);
  onTestFinished(() => daemons.stop());
  const { one, two } = daemons;
  const receiver = await startReceiver();
  const { secret } = await create(one, receiver.url);
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.push(await registered(n % 2 ? one : two));
  await receiver.arrived(6);
  await one.stopKeepingHome();
  ids.push(await registered(two), await registered(two));
  await receiver.arrived(8);
  expect(receiver.verified(secret).map(({ event }) => event.data.deviceId)).toEqual(ids);
  const { list } = data(await two.call('GET', '/api/webhooks/list'));
  expect(list).toMatchObject([{ state: 'active', url: receiver.url }]);
  // The other daemon changes the endpoint: the one that delivers follows.
  await one.startAgain();
  const { webhookId } = list[0];
  expect(data(await one.call('POST', `/api/webhooks/${webhookId}/test`))).toMatchObject({ delivered: true });
});

it('a daemon that is killed while it delivers is followed by another, which repeats at most one message', async () => {
  const nodes = await Nodes.create(server);
  const env = { DEVMGR_WEBHOOK_ALLOW: '127.0.0.1' };
  const receiver = await startReceiver(null);
  const first = await nodes.start({ env });
  const made = (await first.call('POST', '/api/webhooks', { url: receiver.url })) as { data: { secret: string } };
  await first.call('POST', '/api/devices/register', registration());
  // The first daemon has the work, and waits for a response.
  await receiver.arrived(1);
  const second = await nodes.start({ env });
  await second.call('POST', '/api/devices/register', registration());
  receiver.answer({ status: 200 });
  await first.kill();
  await receiver.arrived(3);
  const posts = receiver.verified(made.data.secret);
  expect(posts[0]!.id).toBe(receiver.posts[0]!.id);
  expect(new Set(posts.map(({ id }) => id)).size).toBe(2);
  expect(receiver.posts).toHaveLength(3);
});
