/** Webhooks from the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../support/webhook-receiver.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
});
afterAll(() => discard(daemon));
afterEach(async () => {
  for (const { webhookId } of (await daemon.call('GET', '/api/webhooks/list')).list)
    await daemon.call('POST', `/api/webhooks/${webhookId}/remove`);
});

test('a webhook is created with a secret on standard output, tested, and shows what was delivered', async () => {
  expect((await daemon.run(['webhooks', 'list'])).stderr).toContain('devmgr webhooks add URL');
  const receiver = await startReceiver();
  const made = await daemon.run(['webhooks', 'add', receiver.url]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S+\n$/) });
  const [webhookId] = /WHK-\d+/.exec(made.stderr)!;
  expect(made.stderr).toContain(`devmgr webhooks test ${webhookId}`);
  expect(await daemon.run(['webhooks', 'test', webhookId])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('accepted the test message'),
  });
  await daemon.register('HOOK-CLI-1');
  await receiver.arrived(2);
  expect(receiver.verified(made.stdout.trim()).map(({ event }) => event.type)).toEqual([
    'WEBHOOK_TEST',
    'DEVICE_REGISTERED',
  ]);
  const list = await daemon.run(['webhooks', 'list']);
  expect(list.stdout).toMatch(new RegExp(`^WEBHOOK .*\n${webhookId} .* active `));
  expect(list.stdout).not.toContain('whsec_');
  expect((await daemon.run(['webhooks', 'list', '--quiet'])).stdout).toBe(`${webhookId}\n`);
  const { json } = await daemon.run(['webhooks', 'deliveries', webhookId, '--json']);
  expect(json).toMatchObject({ webhookId, list: [{ type: 'DEVICE_REGISTERED', delivered: true, attempt: 1 }] });
  const { eventId } = json.list[0];
  const replayed = await daemon.run(['webhooks', 'replay', webhookId, `${eventId}`]);
  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining(`accepted event ${eventId}`) });
  expect(receiver.posts.map(({ id }) => id).slice(1)).toEqual([receiver.posts[1]!.id, receiver.posts[1]!.id]);
  receiver.answer({ status: 500 });
  expect(await daemon.run(['webhooks', 'replay', webhookId, `${eventId}`])).toMatchObject({ code: 1 });
  expect(await daemon.run(['webhooks', 'replay', webhookId, '999'])).toMatchObject({ code: 5 });
});

test('a secret is the first line of a file or of standard input, never an argument, and is not shown', async () => {
  const receiver = await startReceiver();
  const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, `${secret}\nof the alerts\n`);
  for (const [args, input] of [
    [[file], undefined],
    [['-'], `${secret}\n`],
  ] as const) {
    const made = await daemon.run(
      ['webhooks', 'add', receiver.url, '--secret-file', ...args],
      input === undefined ? {} : { input },
    );
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/WHK-\d+ is created/) });
    expect(made.stdout + made.stderr).not.toContain(secret);
  }
  const { list } = await daemon.call('GET', '/api/webhooks/list');
  await daemon.run(['webhooks', 'test', list[0].webhookId]);
  expect(receiver.verified(secret)).toHaveLength(1);
  writeFileSync(file, 'whsec_short\n');
  const refused = await daemon.run(['webhooks', 'add', receiver.url, '--secret-file', file]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('base64 of 24 to 64 bytes') });
  expect(refused.stderr).not.toContain('whsec_short');
});

test('a receiver that does not take the test message is exit code 1, with the reason', async () => {
  const receiver = await startReceiver({ status: 500 });
  const { webhookId } = await daemon.call('POST', '/api/webhooks', { url: receiver.url });
  expect(await daemon.run(['webhooks', 'test', webhookId])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('the endpoint answered 500'),
  });
});

test('a webhook is disabled, enabled and removed', async () => {
  const { webhookId } = await daemon.call('POST', '/api/webhooks', { url: 'https://hooks.invalid/' });
  expect((await daemon.run(['webhooks', 'disable', webhookId])).stdout).toContain(`${webhookId} is disabled`);
  expect((await daemon.run(['webhooks', 'list'])).stdout).toContain('disabled');
  expect((await daemon.run(['webhooks', 'enable', webhookId])).stdout).toContain(`${webhookId} is enabled`);
  expect((await daemon.run(['webhooks', 'remove', webhookId])).stdout).toContain(`${webhookId} is removed`);
  expect(await daemon.run(['webhooks', 'disable', webhookId])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('devmgr webhooks list'),
  });
});

test('an address that the daemon must not reach is refused, and the message shows who can allow it', async () => {
  const refused = await daemon.run(['webhooks', 'add', 'https://169.254.169.254/latest']);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--webhook-allow') });
});
