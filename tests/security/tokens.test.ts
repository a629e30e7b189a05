/** Which tokens are accepted, and how the key that signs them is replaced. */
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateKey } from '../../daemon/maintenance/programs.ts';
import { adminPassword } from '../support/daemon.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { openStream } from '../support/stream-client.ts';

let home: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-tokens-'));
  daemon = await spawnDaemon({ home });
});
afterAll(async () => {
  await daemon?.stop();
  await rm(home, { recursive: true, force: true });
});

const keyFile = () => join(home, 'signing-key');
const presentKey = async () => Buffer.from((await readFile(keyFile(), 'utf8')).split(/\s/)[0]!, 'base64url');
const encode = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const sign = (text: string, key: Uint8Array | string, hash = 'sha256') =>
  createHmac(hash, key).update(text).digest('base64url');
/** 200 if the token is accepted, else the code of the error. */
async function tried(token: string): Promise<number> {
  const response = await fetch(`${daemon.url}/api/users/me`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { code: number }).code;
}
const login = async () => {
  const body = { username: 'admin', password: adminPassword };
  return ((await daemon.call('POST', '/api/auth/login', body)).data as { token: string }).token;
};

describe('a token', () => {
  const [header, payload] = [{ alg: 'HS256', typ: 'JWT' }, () => JSON.parse(decode(daemon.token.split('.')[1]!))];
  const decode = (part: string) => Buffer.from(part, 'base64url').toString();
  const made = (head: object, claims: object, key: Uint8Array | string, hash?: string) => {
    const text = `${encode(head)}.${encode(claims)}`;
    return `${text}.${sign(text, key, hash)}`;
  };

  it('names its user, issue time and expiry, and has a unique id even if two are issued in one second', async () => {
    const claims = [await login(), await login()].map(token => JSON.parse(decode(token.split('.')[1]!)));
    for (const { sub, username, role, iat, exp } of claims)
      expect({ sub, username, role, life: exp - iat }).toEqual({
        sub: 'USR-1',
        username: 'admin',
        role: 'ADMIN',
        life: 24 * 60 * 60,
      });
    const ids = claims.map(({ jti }) => jti);
    expect(ids).toEqual([expect.stringMatching(/^\S{16,}$/), expect.stringMatching(/^\S{16,}$/)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('signed with the key of the daemon is accepted: the following ones fail because of their fault', async () => {
    expect(await tried(made(header, payload(), await presentKey()))).toBe(200);
  });

  it.each([
    ['HS384', 'sha384'],
    ['HS512', 'sha512'],
  ])('of another algorithm (%s) is 1004, even with the right key', async (alg, hash) => {
    expect(await tried(made({ ...header, alg }, payload(), await presentKey(), hash))).toBe(1004);
    expect(await tried(made({ ...header, alg }, payload(), await presentKey()))).toBe(1004);
    expect(await tried(made(header, payload(), await presentKey(), hash))).toBe(1004);
  });

  it.each(['none', 'None', 'nOnE', 'RS256', 'ES256', '', null, 7])(
    'with the algorithm %j in its header is 1004',
    async alg => {
      const key = await presentKey();
      expect(await tried(made({ ...header, alg }, payload(), key))).toBe(1004);
      expect(await tried(`${encode({ ...header, alg })}.${encode(payload())}.`)).toBe(1004);
    },
  );

  it('that contains its own key is 1004', async () => {
    const jwk = { kty: 'oct', k: encode('guessed key of thirty-two bytes!') };
    const head = { ...header, jwk, jku: 'http://127.0.0.1/keys', kid: '../../dev/null' };
    expect(await tried(made(head, payload(), 'guessed key of thirty-two bytes!'))).toBe(1004);
    expect(await tried(made(head, payload(), ''))).toBe(1004);
  });

  it.each([
    ['an unknown user', () => ({ ...payload(), sub: 'USR-999999' })],
    ['a malformed id', () => ({ ...payload(), sub: 'USR-01' })],
    ['no subject', () => ({ ...payload(), sub: undefined })],
    ['no expiry', () => ({ ...payload(), exp: undefined })],
    ['an expiry that is a text', () => ({ ...payload(), exp: '9999999999' })],
    ['an earlier password', () => ({ ...payload(), epoch: payload().epoch - 1 })],
    ['no claims', () => []],
  ] as const)('with the right signature but with %s is 1004', async (_what, claims) => {
    expect(await tried(made(header, claims(), await presentKey()))).toBe(1004);
  });

  it('with another role in it has the role of its user', async () => {
    const text = made(header, { ...payload(), role: 'VIEWER' }, await presentKey());
    const response = await fetch(`${daemon.url}/api/users/list`, { headers: { authorization: `Bearer ${text}` } });
    expect(response.status).toBe(200);
  });

  it('truncated anywhere is 1004', async () => {
    const { token } = daemon;
    for (let length = 1; length < token.length; length += 7) expect(await tried(token.slice(0, length))).toBe(1004);
  });
});

it.each(['0', '-1', '1.5', 'off', '30d', '3651', '99999', ' 30'])(
  'DEVMGR_SESSION_DAYS=%j ends the start with exit code 2',
  async days => {
    const options = { home: join(home, 'not-started') };
    await expect(spawnDaemon(options, { DEVMGR_SESSION_DAYS: days })).rejects.toThrow(
      /ended with 2 .*DEVMGR_SESSION_DAYS is malformed/s,
    );
  },
);

describe('the signing key', () => {
  const isSignedBy = (token: string, key: Uint8Array) => {
    const cut = token.lastIndexOf('.');
    return sign(token.slice(0, cut), key) === token.slice(cut + 1);
  };

  it('that is replaced while the daemon runs signs new tokens; tokens of the earlier key stay valid', async () => {
    const [earlierKey, earlier] = [await presentKey(), daemon.token];
    expect(isSignedBy(earlier, earlierKey)).toBe(true);
    const ran = await runDaemonProgram(rotateKey, { home, json: false });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(`process ${daemon.pid}`) });
    const key = await presentKey();
    expect(key).not.toEqual(earlierKey);
    await expect.poll(async () => isSignedBy(await login(), key), { timeout: 20_000 }).toBe(true);
    expect(await tried(earlier)).toBe(200);
    const refreshed = await fetch(`${daemon.url}/api/auth/refresh`, {
      method: 'POST',
      headers: { authorization: `Bearer ${earlier}` },
    });
    const { data } = (await refreshed.json()) as { data: { token: string } };
    expect(isSignedBy(data.token, key)).toBe(true);
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  });

  it('that is replaced twice leaves tokens of the first key valid, also after a restart', async () => {
    const earlier = daemon.token;
    expect((await runDaemonProgram(rotateKey, { home, json: true })).code).toBe(0);
    await daemon.stop();
    expect((await runDaemonProgram(rotateKey, { home, json: true })).stdout).toBe('{"daemon":null}\n');
    daemon = await spawnDaemon({ home });
    expect(await tried(earlier)).toBe(200);
  });

  const posted = async (operation: string, body: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await fetch(`${daemon.url}/api/auth/${operation}`, sent)).json()) as {
      code: number;
      data: Readonly<Record<'code' | 'requestId' | 'secret' | 'userCode', string>>;
    };
  };
  const codeOf = async (token: string, purpose: string) => (await posted('codes', { purpose }, token)).data.code;

  it('that is replaced with revokeNow ends all earlier tokens of a running daemon; their streams close with 4401', async () => {
    const earlier = await login();
    const stream = await openStream(daemon.url, { token: earlier });
    const local = await openStream(daemon.url, { token: (await readFile(join(home, 'local-token'), 'utf8')).trim() });
    const byCode = await openStream(daemon.url, { code: await codeOf(earlier, 'STREAM') });
    const session = await codeOf(earlier, 'SESSION');
    const { requestId, secret, userCode } = (await posted('terminal', { name: 'desk' })).data;
    await posted('terminal/approve', { userCode }, earlier);
    const ran = await runDaemonProgram(rotateKey, { home, json: false, revokeNow: true });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('all earlier tokens are revoked') });
    await expect.poll(() => tried(earlier), { timeout: 20_000 }).toBe(1004);
    expect((await stream.closed).code).toBe(4401);
    expect((await local.closed).code).toBe(4401);
    expect((await byCode.closed).code).toBe(4401);
    expect((await posted('exchange', { code: session })).code).toBe(1004);
    expect((await posted('terminal/token', { requestId, secret })).code).toBe(1004);
    const next = await login();
    expect(await tried(next)).toBe(200);
    await daemon.stop();
    daemon = await spawnDaemon({ home });
    expect(await tried(earlier)).toBe(1004);
    expect(await tried(next)).toBe(200);
  });

  it('that is damaged does not stop the daemon at a reload: the current one stays in use', async () => {
    const valid = await readFile(keyFile(), 'utf8');
    await writeFile(keyFile(), 'damaged\n');
    daemon.child.kill('SIGHUP');
    await expect.poll(daemon.output, { timeout: 20_000 }).toContain('could not be reloaded');
    expect(await tried(daemon.token)).toBe(200);
    await writeFile(keyFile(), valid);
  });

  it('that is removed from the file makes its tokens invalid at a reload, even those in use', async () => {
    const earlier = await login();
    expect(await tried(earlier)).toBe(200);
    expect((await runDaemonProgram(rotateKey, { home, json: true })).code).toBe(0);
    const [present] = (await readFile(keyFile(), 'utf8')).split('\n');
    await writeFile(keyFile(), `${present}\n`);
    daemon.child.kill('SIGHUP');
    await expect.poll(() => tried(earlier), { timeout: 20_000 }).toBe(1004);
    expect(await tried(await login())).toBe(200);
  });

  it('that is deleted logs all users out', async () => {
    const earlier = await login();
    expect(await tried(earlier)).toBe(200);
    await daemon.stop();
    await rm(keyFile());
    daemon = await spawnDaemon({ home });
    expect(await tried(earlier)).toBe(1004);
    expect(await tried(daemon.token)).toBe(200);
  });
});
