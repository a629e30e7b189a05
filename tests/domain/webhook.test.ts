import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AllowedTargets, type Resolve, webhookAllowFrom } from '../../daemon/base/allowed-targets.ts';
import { Refusal } from '../../daemon/base/decision.ts';
import { openSecret, sealSecret } from '../../daemon/base/sealed.ts';
import { messageOf } from '../../daemon/webhooks/messages.ts';
import {
  afterPost,
  create,
  type DeliveryProgress,
  type PostResult,
  type Webhooks,
  webhooksIn,
} from '../../daemon/webhooks/records.ts';
import { isWebhookSecret, newWebhookSecret } from '../../src/contract/webhooks/scheme.ts';
import { afterAttempt as stepAfter } from '../../src/delivery/retry.ts';
import { policies } from '../../src/delivery/schedules.ts';

const endpoint = { url: 'https://hooks.test/a?token=1', types: null, sealed: 's', createdBy: 'admin', createdAt: 1 };
const empty = webhooksIn(null);
const hour = 3_600_000;

const outcome = (result: PostResult['result'], more: Partial<PostResult> = {}): PostResult => ({
  event: 8,
  type: 'DEVICE_LOCKED',
  messageId: 'evt_8',
  at: 0,
  milliseconds: 3,
  status: null,
  reason: result === 'delivered' ? null : 'no response',
  waitSeconds: null,
  result,
  ...more,
});
/** The step after an attempt that has ended at `now`, by the policy of webhooks. */
const afterAttempt = (progress: DeliveryProgress, posted: PostResult, now: number, random: number) => {
  const step = stepAfter(policies.webhook, progress, posted, { startedAt: posted.at, endedAt: now, random });
  return afterPost(progress, posted, step, now);
};
const fresh = () => {
  const made = create(empty, endpoint, 7);
  if (made instanceof Refusal) throw new Error('refused');
  return made;
};

describe('what follows from an attempt', () => {
  it('follows the schedule of Standard Webhooks for three days, and then disables the endpoint', () => {
    let { progress } = fresh();
    let now = 0;
    const pauses: number[] = [];
    for (;;) {
      const after = afterAttempt(progress, outcome('again', { at: now }), now, 0);
      progress = after.progress;
      if (after.disabled !== null) {
        expect(after.disabled).toBe('event 8 could not be delivered in 10 attempts');
        break;
      }
      pauses.push((progress.nextAt! - now) / 1000);
      now = progress.nextAt!;
    }
    expect(pauses).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(now / hour).toBeCloseTo(75.6, 1);
    expect(progress).toMatchObject({ through: 7, failures: 10, failingSince: 0, nextAt: null });
  });

  it('moves an attempt by at most a tenth of its pause', () => {
    const { progress } = fresh();
    expect(afterAttempt(progress, outcome('again'), 0, 1).progress.nextAt).toBe(5500);
    expect(afterAttempt(progress, outcome('again'), 0, 0).progress.nextAt).toBe(5000);
  });

  it.each([
    [1, 5000],
    [60, 60_000],
    [10 * 86_400, 24 * hour],
  ])('waits at least as long as the receiver asks, up to a day: %i s', (waitSeconds, nextAt) => {
    expect(afterAttempt(fresh().progress, outcome('again', { waitSeconds }), 0, 0).progress.nextAt).toBe(nextAt);
  });

  it('disables an endpoint that always asks to wait when it has failed for longer than the schedule', () => {
    let { progress } = fresh();
    let [now, tries, disabled] = [0, 0, null as string | null];
    while (disabled === null) {
      const after = afterAttempt(progress, outcome('again', { at: now, waitSeconds: 86_400 }), now, 0);
      ({ progress, disabled } = after);
      now = progress.nextAt ?? now;
      tries++;
    }
    expect([tries, now / hour]).toEqual([5, 96]);
  });

  it('disables an endpoint at once after 410', () => {
    const { progress, disabled } = afterAttempt(fresh().progress, outcome('gone', { status: 410 }), 9, 0);
    expect(disabled).toMatch(/410 Gone/);
    expect(progress).toMatchObject({ through: 7, failures: 1, nextAt: null });
  });

  it('starts the schedule over with the next event', () => {
    const failed = afterAttempt(fresh().progress, outcome('again'), 0, 0).progress;
    const { progress } = afterAttempt(failed, outcome('delivered', { at: 5000 }), 5001, 0);
    expect(progress).toMatchObject({
      through: 8,
      failures: 0,
      failingSince: null,
      nextAt: null,
      lastDeliveredAt: 5001,
    });
    expect(progress.attempts.map(({ number, reason }) => [number, reason])).toEqual([
      [2, null],
      [1, 'no response'],
    ]);
  });

  it('keeps the last 50 attempts', () => {
    let { progress } = fresh();
    for (let event = 1; event <= 60; event++)
      progress = afterAttempt(progress, outcome('delivered', { event }), 0, 0).progress;
    expect(progress.attempts).toHaveLength(50);
    expect(progress.attempts[0]?.event).toBe(60);
  });

  it('has nine pauses', () => expect(policies.webhook.pauses).toHaveLength(9));
});

describe('endpoints', () => {
  it('at most 32 are created', () => {
    const full: Webhooks = { ...empty, last: 32, list: Array.from({ length: 32 }, () => fresh().record) };
    expect(create(full, endpoint, 0)).toBeInstanceOf(Refusal);
  });

  it('the journal has the address without its query, and no secret', () => {
    const text = JSON.stringify(fresh().changes.flatMap(change => ('entry' in change ? change.entry : [])));
    expect(text).toContain('https://hooks.test/a');
    expect(text).not.toContain('token=1');
    expect(text).not.toContain('"s"');
  });
});

describe('sealed secrets', () => {
  const key = randomBytes(32);
  const bound = { subject: 3, place: 'https://hooks.test/' };
  const secret = newWebhookSecret();
  const sealed = sealSecret(key, bound, secret);

  it('are opened with their key', () => expect(openSecret(key, bound, sealed)).toBe(secret));
  it('differ each time', () => expect(sealSecret(key, bound, secret)).not.toBe(sealed));
  it.each([
    ['another key', randomBytes(32), bound, sealed],
    ['another number', key, { ...bound, subject: 4 }, sealed],
    ['another address', key, { ...bound, place: 'https://evil.test/' }, sealed],
    ['a changed text', key, bound, `${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`],
    ['an empty text', key, bound, ''],
  ])('are not opened with %s', (_, other, binding, text) => expect(openSecret(other, binding, text)).toBeNull());

  // Sealed by version 0.1.0: registries have them, so neither the form nor the binding of a secret may change.
  it.each([
    [
      7,
      'https://hooks.example.com/devmgr',
      'pwOIstPqhEFWnG1H8vpcPQDvGAyWiRC0LrLxfC3RJXws_yR4OtDwt3Ntwgs7og',
      'whsec_of_a_webhook',
    ],
    [12, 'user name', '6mOp13eQDIpNPCI4Wq-5FilRrpmPIDkOZqNDoGsC9Q', 'ada'],
  ])('of an earlier version are opened: subject %s', (subject, place, text, expected) => {
    const earlier = Buffer.from('00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff', 'hex');
    expect(openSecret(earlier, { subject, place }, text)).toBe(expected);
  });

  it.each([
    ['', false],
    ['whsec_', false],
    [`whsec_${Buffer.alloc(23).toString('base64')}`, false],
    [`whsec_${Buffer.alloc(24).toString('base64')}`, true],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, false],
    [Buffer.alloc(32).toString('base64'), false],
  ])('%j is a secret of the scheme: %s', (text, valid) => expect(isWebhookSecret(text)).toBe(valid));
});

describe('the addresses of webhooks', () => {
  const none = new AllowedTargets([]);
  const problem = (text: string, allowed = none) => allowed.problemOf(new URL(text));

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://168.63.129.16/',
    'https://100.100.100.200/',
    'https://192.0.0.192/',
    'https://161.26.0.10/',
    'https://166.9.12.1/',
    'https://[fd00:ec2::254]/',
    'https://[fd20:ce::254]/',
    'https://[::ffff:168.63.129.16]/',
    'https://[64:ff9b::168.63.129.16]/',
    'https://[64:ff9b:1::a83f:8110]/',
    'https://[2002:a83f:8110::]/',
    'https://100.64.0.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[ff02::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001::1]/',
    'https://[fec0::1]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'http://hooks.example.com/',
    'http://8.8.8.8/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'https://user@hooks.example.com/',
    'https://user:password@hooks.example.com/',
  ])('%s is refused', text => expect(problem(text)).not.toBeNull());

  it.each(['https://hooks.example.com/', 'https://8.8.8.8:8443/a?b', 'https://[2606:4700::1]/'])(
    '%s is allowed',
    text => expect(problem(text)).toBeNull(),
  );

  it('networks, addresses and names that the operator allows are allowed, also without TLS', () => {
    const allowed = new AllowedTargets(['10.20.0.0/16', '::1', 'Hooks.Internal']);
    for (const text of ['http://10.20.3.4/', 'https://[::1]:8443/', 'http://hooks.internal/'])
      expect(problem(text, allowed)).toBeNull();
    for (const text of ['http://10.21.0.1/', 'https://127.0.0.1/', 'https://other.localhost/'])
      expect(problem(text, allowed)).not.toBeNull();
  });

  it.each(['10.0.0.0/33', 'http://a', 'a b', '', '-', 'fe80::1%eth0'])('--webhook-allow refuses %j', entry =>
    expect(() => new AllowedTargets([entry])).toThrow('--webhook-allow'),
  );

  it('the environment counts if the flag is absent', () => {
    const env = { DEVMGR_WEBHOOK_ALLOW: '10.0.0.0/8, hooks.internal,' };
    expect(webhookAllowFrom([], env)).toEqual(['10.0.0.0/8', 'hooks.internal']);
    expect(webhookAllowFrom(['::1'], env)).toEqual(['::1']);
    expect(webhookAllowFrom([], {})).toEqual([]);
  });

  const resolves =
    (...addresses: string[]): Resolve =>
    (_host, _options, done) =>
      done(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  it.each([['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['2606:4700::1', '::1'], ['::ffff:10.0.0.1']])(
    'a name with the addresses %s is refused when it is created and when it is connected to',
    async (...addresses) => {
      const allowed = new AllowedTargets([], resolves(...addresses));
      const url = new URL('https://rebound.example.com/');
      expect(await allowed.resolve(url)).toMatch(/not a public address/);
      const error = await new Promise(resolve => allowed.lookupFor(url)('rebound.example.com', { all: true }, resolve));
      expect(error).toBeInstanceOf(Error);
    },
  );

  it('a public name without TLS is refused although a network is allowed', async () => {
    const allowed = new AllowedTargets(['10.0.0.0/8'], resolves('8.8.8.8'));
    expect(await allowed.resolve(new URL('http://hooks.example.com/'))).toMatch(/https/);
    const inside = new AllowedTargets(['10.0.0.0/8'], resolves('10.1.1.1'));
    expect(await inside.resolve(new URL('http://hooks.example.com/'))).toBeNull();
  });

  it('a name that cannot be resolved may be created', async () => {
    const allowed = new AllowedTargets([], (_host, _options, done) => done(new Error('no such name'), []));
    expect(await allowed.resolve(new URL('https://later.example.com/'))).toBeNull();
  });
});

describe('messages', () => {
  const event = {
    id: 5,
    at: 1_700_000_000_000,
    type: 'DEVICE_LOCKED' as const,
    device: 3,
    subject: null,
    actor: 'admin',
    requestId: null,
    data: { deviceType: 'UKEY', lockReason: 'lost' },
    detail: { note: 'for the audit only' },
  };

  it('are what the stream of notifications sends', () =>
    expect(JSON.parse(messageOf('ab'.repeat(16), event)!.body)).toEqual({
      id: 5,
      type: 'DEVICE_LOCKED',
      timestamp: '2023-11-14T22:13:20.000Z',
      data: { deviceId: 'DEV-3', deviceType: 'UKEY', lockReason: 'lost' },
    }));

  it('have an id that stays, and differs for another entry with the same id or another registry', () => {
    const id = messageOf('ab'.repeat(16), event)!.id;
    expect(messageOf('ab'.repeat(16), event)!.id).toBe(id);
    expect(messageOf('ab'.repeat(16), { ...event, device: 4 })!.id).not.toBe(id);
    expect(messageOf('cd'.repeat(16), event)!.id).not.toBe(id);
  });

  it('are not made of entries that only the audit shows', () =>
    expect(messageOf('ab', { ...event, type: 'USER_CREATED', device: null })).toBeNull());
});
