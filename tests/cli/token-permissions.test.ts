/** Permissions of a service token, and its traces after its revocation, on the command line. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { type Daemon, devmgr, discard, programFile, startDaemon } from './program.ts';
import { atTerminal } from './screen.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
});
afterAll(() => discard(daemon));
afterEach(async () => {
  for (const webhookId of await webhooks()) await daemon.call('POST', `/api/webhooks/${webhookId}/remove`);
});

const webhooks = async (): Promise<string[]> =>
  (await daemon.call('GET', '/api/webhooks/list')).list.map(({ webhookId }: { webhookId: string }) => webhookId);

let made = 0;
const add = async (...flags: string[]) => {
  const name = `program-${++made}`;
  const { json, code } = await daemon.run(['tokens', 'add', name, '--role', 'ADMIN', ...flags, '--json']);
  expect(code).toBe(0);
  return { name, ...json, env: { DEVMGR_TOKEN: json.token as string, DEVMGR_SERVER: daemon.url } };
};
/** A token that has made two webhooks. */
const thief = async () => {
  const token = await add('--may', 'webhooks');
  const { url } = await startReceiver();
  const ids: string[] = [];
  for (let n = 0; n < 2; n++) ids.push((await devmgr(['webhooks', 'add', url, '--json'], token)).json.webhookId);
  return { ...token, ids };
};

describe('tokens add --may', () => {
  test.each([
    [
      ['--may', 'webhooks,policies'],
      ['webhooks', 'policies'],
    ],
    [
      ['--may', 'POLICIES', '--may', 'scim'],
      ['policies', 'scim'],
    ],
    [[], []],
  ])('%j gives the token %j, and the list shows it', async (flags, may) => {
    const { name, may: returned } = await add(...flags);
    expect(returned).toEqual(may);
    const listed = await daemon.run(['tokens', 'list', '--fields', 'name,may', '--json']);
    expect(listed.json.list[0]).toEqual({ name, may });
    const row = (await daemon.run(['tokens', 'list'])).stdout.split('\n').find(line => line.includes(name));
    expect(row).toContain(`ADMIN ${may.length > 0 ? ` ${may.join(' ')} ` : ''}`);
  });

  test('refuses an unknown permission before the server is asked, and one that is repeated', async () => {
    const line = ['tokens', 'add', 'wrong', '--role', 'ADMIN', '--may'];
    const unknown = await daemon.run([...line, 'users']);
    expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/--may[\s\S]*webhooks/) });
    const repeated = await daemon.run([...line, 'webhooks,webhooks']);
    expect(repeated).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('may') });
  });

  test('without it, webhooks and policies are refused with exit code 4', async () => {
    const { env } = await add();
    for (const [args, permission] of [
      [['webhooks', 'list'], 'webhooks'],
      [['policies', 'show'], 'policies'],
    ] as const) {
      const refused = await devmgr(args, { env });
      expect(refused).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining(permission) });
    }
  });
});

describe('tokens remove', () => {
  test('names the webhooks that the token has made, and the command that removes them', async () => {
    const { name, tokenId, ids } = await thief();
    const { code, stdout, stderr } = await daemon.run(['tokens', 'remove', name]);
    expect({ code, rows: stdout.includes(ids.join(' ')) }).toEqual({ code: 0, rows: true });
    expect(stderr).toContain(`still receive events: ${ids.join(', ')}`);
    expect(stderr).toContain(`devmgr tokens remove ${tokenId} --remove-made`);
    expect(await webhooks()).toEqual(ids);
    // The command that was named works although the token is revoked already.
    const removed = await daemon.run(['tokens', 'remove', tokenId, '--remove-made']);
    expect(removed.code).toBe(0);
    for (const id of ids) expect(removed.stderr).toContain(`${id} is removed`);
    expect(await webhooks()).toEqual([]);
    expect((await daemon.run(['tokens', 'remove', tokenId])).stderr).toBe('');
  });

  test('with --json writes the response, and --remove-made removes as well', async () => {
    const { name, ids } = await thief();
    const { json } = await daemon.run(['tokens', 'remove', name, '--remove-made', '--json']);
    expect(json).toMatchObject({ name, made: { webhooks: ids } });
    expect(await webhooks()).toEqual([]);
  });
});

needs('script', 'bsdutils')('tokens remove at a terminal', () => {
  test.each([
    ['y', true],
    ['n', false],
  ])('asks whether to remove what the token has made: %s', async (answer, isRemoved) => {
    const { name, ids } = await thief();
    const screen = atTerminal([process.execPath, programFile, 'tokens', 'remove', name], { home: daemon.home });
    await screen.answer(/Remove the webhooks that it has created \(WHK-\d+, WHK-\d+\)\?/, answer);
    const { code, stdout } = await screen.ended;
    expect({ code, named: stdout.includes('--remove-made') }).toEqual({ code: 0, named: !isRemoved });
    expect(await webhooks()).toEqual(isRemoved ? [] : ids);
  });
});
