/** A registry proves which one it is: `/api/health?nonce=…`, signed with the key in its home. */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { callSocket } from '../support/unix-socket.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
});
afterEach(() => daemon?.stop());

const health = (nonce?: string) =>
  daemon.call('GET', `/api/health${nonce === undefined ? '' : `?nonce=${nonce}`}`, undefined, { token: null });
const newNonce = (bytes = 32) => randomBytes(bytes).toString('base64url');
const keyFile = () => join(daemon.home, 'instance-key');

/** Written from the documentation, not with the code of the program. */
function isProven(identity: Record<string, string>, nonce: string): boolean {
  const key = createPublicKey({ key: Buffer.from(identity.publicKey!, 'base64url'), format: 'der', type: 'spki' });
  const text = `devmgr instance 1\n${identity.instanceId}\n${nonce}\n${identity.address}\n`;
  return verify(null, Buffer.from(text), key, Buffer.from(identity.signature!, 'base64url'));
}

it('without a nonce, the response has the published fields only', async () => {
  const { data } = await health();
  expect(Object.keys(data).sort()).toEqual([
    'drivers',
    'idempotencyKeys',
    'node',
    'ready',
    'reason',
    'service',
    'status',
    'store',
    'uptimeSeconds',
    'version',
  ]);
});

it.each([16, 32, 64])('signs a nonce of %i bytes with the address at which it arrived', async bytes => {
  const nonce = newNonce(bytes);
  const { identity } = (await health(nonce)).data;
  expect(identity.address).toBe(new URL(daemon.url).host);
  expect(isProven(identity, nonce)).toBe(true);
  expect(isProven(identity, newNonce())).toBe(false);
});

it.each(['short', 'A'.repeat(21), 'A'.repeat(87), `${'A'.repeat(30)}+/`, `${'A'.repeat(30)}%0AA`])(
  'refuses the nonce "%s" with 1001',
  async nonce => {
    expect(await health(nonce)).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('nonce') });
  },
);

it('names another address on the Unix socket: a program that passes a nonce on is noticed', async () => {
  const nonce = newNonce();
  const { data } = await callSocket(daemon.home, { path: `/api/health?nonce=${nonce}` });
  expect(data.identity.address).toBe('unix');
  expect(isProven(data.identity, nonce)).toBe(true);
});

it('keeps its identity over restarts, in a file that only its user can read', async () => {
  const before = (await health(newNonce())).data.identity.instanceId;
  await daemon.restart();
  expect((await health(newNonce())).data.identity.instanceId).toBe(before);
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
});

it('does not start with a damaged key, and explains what to do', async () => {
  await daemon.stopKeepingHome();
  writeFileSync(keyFile(), 'not a key\n');
  await expect(daemon.startAgain()).rejects.toMatchObject({
    exitCode: 1,
    message: `${keyFile()} is damaged`,
    hint: expect.stringContaining('--accept-new-server'),
  });
});

it('bounds signatures by client address, and health itself not', async () => {
  await daemon.restart({ limits: { login: null, query: { count: 2, seconds: 60 }, modify: null, upload: null } });
  const codes = [];
  for (let i = 0; i < 3; i++) codes.push((await health(newNonce())).code);
  expect(codes).toEqual([200, 200, 429]);
  expect((await health()).code).toBe(200);
});
