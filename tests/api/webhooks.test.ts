/** Webhooks: what administrators do with them, and how events arrive. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register } from '../support/fleet.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
});
afterAll(() => daemon?.stop());

const post = (path: string, body: object = {}, options = {}) =>
  daemon.call('POST', `/api/webhooks${path}`, body, options);
const listed = async (): Promise<Record<string, unknown>[]> =>
  data(await daemon.call('GET', '/api/webhooks/list')).list;
const stateOf = async (webhookId: string) => (await listed()).find(one => one.webhookId === webhookId);
const attempts = async (webhookId: string) =>
  data(await daemon.call('GET', `/api/webhooks/${webhookId}/deliveries`)).list as Record<string, unknown>[];
/** Asks again until the state is as wanted: each look is a request. */
async function until(webhookId: string, wanted: (state: Record<string, unknown>) => boolean) {
  for (;;) {
    const state = await stateOf(webhookId);
    if (state && wanted(state)) return state;
  }
}
afterEach(async () => {
  for (const { webhookId } of await listed()) await post(`/${webhookId}/remove`);
});

describe('an endpoint', () => {
  it('gets the events from its creation on, in order, signed, and not who made the changes', async () => {
    await register(daemon);
    const receiver = await startReceiver();
    const { webhookId, secret, ...webhook } = data(await post('', { url: receiver.url }));
    expect(webhook).toMatchObject({ url: receiver.url, types: null, state: 'active', createdBy: 'admin', waiting: 0 });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await register(daemon)).deviceId);
    await receiver.arrived(3);
    const posts = receiver.verified(secret);
    expect(posts.map(({ event }) => event.data.deviceId)).toEqual(ids);
    expect(posts.map(({ event }) => event.id)).toEqual(posts.map(({ event }) => event.id).toSorted((a, b) => a - b));
    const { token } = await daemon.user('reader-of-events', 'VIEWER');
    const after = `/api/events?after=${posts[0]!.event.id - 1}`;
    const events = data(await daemon.call('GET', after, undefined, { token })).list;
    expect(posts.map(({ event }) => event)).toEqual(events);
    const state = await until(webhookId, ({ deliveredThrough }) => deliveredThrough === posts[2]!.event.id);
    expect(state).toMatchObject({ state: 'active', waiting: 0, failures: 0, nextAttemptAt: null });
    expect(
      (await attempts(webhookId)).map(({ eventId, delivered, httpStatus, attempt }) => [
        eventId,
        delivered,
        httpStatus,
        attempt,
      ]),
    ).toEqual(posts.toReversed().map(({ event }) => [event.id, true, 204, 1]));
  });

  it('gets only the types that it names', async () => {
    const receiver = await startReceiver();
    const { secret } = data(await post('', { url: receiver.url, types: ['DEVICE_LOCKED', 'DEVICE_LOCKED'] }));
    expect((await listed())[0]).toMatchObject({ types: ['DEVICE_LOCKED'] });
    await deviceIn('LOCKED', daemon);
    await receiver.arrived(1);
    expect(receiver.verified(secret).map(({ event }) => event.type)).toEqual(['DEVICE_LOCKED']);
  });

  it('gets no activation code', async () => {
    const receiver = await startReceiver();
    await post('', { url: receiver.url });
    const { deviceId, activationCode } = await deviceIn('INACTIVE', daemon);
    const made = data(await daemon.call('POST', '/api/devices/generate-activation-code', { deviceId, reason: 'lost' }));
    await receiver.arrived(2);
    const text = receiver.posts.map(({ body }) => body).join();
    expect(receiver.posts.map(({ event }) => event.type)).toEqual(['DEVICE_REGISTERED', 'ACTIVATION_CODE_GENERATED']);
    for (const code of [activationCode, made.activationCode]) expect(text).not.toContain(code);
  });

  it('can bring its own secret, which is not returned', async () => {
    const receiver = await startReceiver();
    const own = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { secret, webhookId } = data(await post('', { url: receiver.url, secret: own }));
    expect(secret).toBeNull();
    const tested = data(await post(`/${webhookId}/test`));
    expect(tested).toMatchObject({ delivered: true, httpStatus: 204, reason: null });
    const [message] = receiver.verified(own);
    expect(message).toMatchObject({ id: tested.messageId, event: { type: 'WEBHOOK_TEST', data: { webhookId } } });
    expect(() =>
      new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(message!.body, message!.headers as never),
    ).toThrow();
  });

  it('gets an event of its list again on demand, with the same id, also while it is disabled', async () => {
    const receiver = await startReceiver();
    const { webhookId, secret } = data(await post('', { url: receiver.url, types: ['DEVICE_REGISTERED'] }));
    await register(daemon);
    await until(webhookId, ({ lastDeliveredAt }) => lastDeliveredAt !== null);
    const [first] = receiver.posts;
    const replay = (event: unknown) => post(`/${webhookId}/deliveries/${event}/replay`);
    await post(`/${webhookId}/disable`);
    const before = await attempts(webhookId);
    expect(data(await replay(first!.event.id))).toMatchObject({
      webhookId,
      eventId: first!.event.id,
      messageId: first!.id,
      delivered: true,
      httpStatus: 204,
      reason: null,
    });
    const [original, again] = receiver.verified(secret);
    expect([again!.id, again!.body]).toEqual([original!.id, original!.body]);
    receiver.answer({ status: 500 });
    expect(data(await replay(first!.event.id))).toMatchObject({
      delivered: false,
      reason: 'the endpoint answered 500',
    });
    expect(await attempts(webhookId)).toEqual(before);
    expect(await stateOf(webhookId)).toMatchObject({ state: 'disabled', failures: 0 });
    for (const other of [first!.event.id + 1, 0, 'x', `0${first!.event.id}`])
      expect(await replay(other)).toMatchObject({ status: 404, code: 404 });
    expect(await post('/WHK-999/deliveries/1/replay')).toMatchObject({ status: 404, code: 404 });
    expect(receiver.posts).toHaveLength(3);
  });

  it('is tried again after a failure, with the same id', async () => {
    const receiver = await startReceiver({ status: 503, headers: { 'retry-after': '60' } });
    const { webhookId } = data(await post('', { url: receiver.url }));
    await register(daemon);
    const failing = await until(webhookId, ({ failures }) => failures === 1);
    expect(failing).toMatchObject({ state: 'retrying', waiting: 1 });
    const pause = Date.parse(String(failing.nextAttemptAt)) - Date.now();
    expect(pause).toBeGreaterThan(30_000);
    receiver.answer({ status: 200 });
    // An administrator who has repaired the receiver need not wait.
    await post(`/${webhookId}/enable`);
    await until(webhookId, ({ state, waiting }) => state === 'active' && waiting === 0);
    expect(receiver.posts.map(({ id }) => id)).toEqual([receiver.posts[0]!.id, receiver.posts[0]!.id]);
    expect((await attempts(webhookId)).map(({ delivered, reason }) => [delivered, reason])).toEqual([
      [true, null],
      [false, 'the endpoint answered 503'],
    ]);
  });

  it('that fails is counted in the metrics', async () => {
    const failing = async () => {
      const text = await (await fetch(`${daemon.url}/metrics`)).text();
      return /^devmgr_webhooks_failing\{.*\} (\d+)$/m.exec(text)?.[1] ?? null;
    };
    expect(await failing()).toBeNull();
    const [bad, good] = [await startReceiver({ status: 503 }), await startReceiver()];
    const { webhookId } = data(await post('', { url: bad.url }));
    await post('', { url: good.url });
    expect(await failing()).toBe('0');
    await register(daemon);
    await until(webhookId, ({ failures }) => failures === 1);
    expect(await failing()).toBe('1');
  });

  it('that answers 410 is disabled at once, and continues where it stopped when it is enabled', async () => {
    const receiver = await startReceiver({ status: 410 });
    const { webhookId } = data(await post('', { url: receiver.url }));
    const first = await register(daemon);
    const state = await until(webhookId, one => one.state === 'disabled');
    expect(state).toMatchObject({ disabledReason: expect.stringMatching(/410 Gone/), nextAttemptAt: null });
    const second = await register(daemon);
    receiver.answer({ status: 200 });
    expect(data(await post(`/${webhookId}/enable`))).toMatchObject({
      state: 'active',
      disabledReason: null,
      waiting: 2,
    });
    await receiver.arrived(3);
    expect(receiver.posts.map(({ event }) => event.data.deviceId)).toEqual(
      [first, first, second].map(one => one.deviceId),
    );
  });

  it('gets nothing while it is disabled, and nothing after it was removed', async () => {
    const [off, on] = [await startReceiver(), await startReceiver()];
    const { webhookId } = data(await post('', { url: off.url }));
    await post('', { url: on.url });
    expect(data(await post(`/${webhookId}/disable`))).toMatchObject({ state: 'disabled' });
    expect(data(await post(`/${webhookId}/disable`))).toMatchObject({
      disabledReason: 'an administrator has disabled it',
    });
    await register(daemon);
    await on.arrived(1);
    expect(data(await post(`/${webhookId}/remove`))).toEqual({ webhookId, removed: true });
    await register(daemon);
    await on.arrived(2);
    expect(off.posts).toEqual([]);
    for (const path of ['test', 'disable', 'enable', 'remove'])
      expect(await post(`/${webhookId}/${path}`)).toMatchObject({ code: 404, message: 'webhook does not exist' });
    expect(await daemon.call('GET', `/api/webhooks/${webhookId}/deliveries`)).toMatchObject({ code: 404 });
  });

  it('that fails delays no other endpoint', async () => {
    const [mute, quick] = [await startReceiver(null), await startReceiver()];
    await post('', { url: mute.url });
    await post('', { url: quick.url });
    for (let n = 0; n < 5; n++) await register(daemon);
    await Promise.all([quick.arrived(5), mute.arrived(1)]);
    expect(mute.posts).toHaveLength(1);
  });
});

describe('a request', () => {
  it.each([
    [{}, 'url'],
    [{ url: 'hooks' }, 'url must be an address that starts with https://'],
    [{ url: 'https://10.0.0.1/' }, 'not a public address'],
    [{ url: 'http://8.8.8.8/' }, 'url must start with https://'],
    [{ url: 'https://u:p@hooks.example.com/' }, 'password'],
    [{ url: `https://hooks.example.com/${'x'.repeat(1000)}` }, 'url'],
    [{ url: 'https://hooks.invalid/', types: [] }, 'types'],
    [{ url: 'https://hooks.invalid/', types: ['KEY_ATTACHED'] }, 'types[0]'],
    [{ url: 'https://hooks.invalid/', types: ['DEVICE_LOCKED', 7] }, 'types[1]'],
    [{ url: 'https://hooks.invalid/', secret: 'short' }, 'secret must be whsec_'],
    [{ url: 'https://hooks.invalid/', secret: `whsec_${'A'.repeat(200)}` }, 'secret'],
  ])('%j is refused', async (body, words) => {
    const answer = await post('', body);
    expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining(words) });
    expect(await listed()).toEqual([]);
  });

  it('for the 33rd endpoint is refused', async () => {
    for (let n = 0; n < 32; n++) data(await post('', { url: `https://hooks.invalid/${n}` }));
    expect(await post('', { url: 'https://hooks.invalid/33' })).toMatchObject({ code: 1001 });
    expect(await listed()).toHaveLength(32);
  });
});

describe('a secret', () => {
  it('is in no list, log, journal, file and error', async () => {
    const receiver = await startReceiver({ status: 500 });
    const own = `whsec_${Buffer.from('a secret that must not be seen').toString('base64')}`;
    const { webhookId, secret } = data(await post('', { url: `${receiver.url}?key=of-the-receiver` }));
    data(await post('', { url: receiver.url, secret: own }));
    await register(daemon);
    await until(webhookId, ({ failures }) => failures === 1);
    data(await post(`/${webhookId}/test`));
    const answers = JSON.stringify([
      await listed(),
      await attempts(webhookId),
      await post('', { url: 'x', secret: own }),
    ]);
    for (const one of [own, String(secret)]) {
      for (const text of [one, one.slice('whsec_'.length)]) {
        expect(answers).not.toContain(text);
        expect(daemon.logged()).not.toContain(text);
        for (const file of filesIn(daemon.home)) expect(file.includes(text)).toBe(false);
      }
    }
    expect(daemon.logged()).not.toContain('of-the-receiver');
  });
});

/** The content of every file of a folder, those of its folders too. */
function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name);
    const stats = statSync(path);
    if (stats.isDirectory()) return filesIn(path);
    return stats.isFile() ? [readFileSync(path, 'latin1')] : [];
  });
}
