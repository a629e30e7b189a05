/** Which signing key a token is valid with, by the time at which it was issued. The clock stands still until a test moves it. */
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Accounts } from '../../daemon/accounts/accounts.ts';
import type { SigningKey } from '../../daemon/accounts/signing-keys.ts';
import { rotateSigningKey, signingKeys } from '../../daemon/accounts/signing-keys.ts';
import { Tokens } from '../../daemon/accounts/tokens.ts';
import { Home } from '../../daemon/home/home.ts';
import { ApiError } from '../../src/contract/codes.ts';
import { day, second } from '../support/clock.ts';
import { openTemporary } from '../support/sqlite.ts';

const start = Date.parse('2026-11-20T08:00:00.400Z');
const hour = 3600 * second;
let now: number;
let home: Home;
let tokens: Tokens;
let cleanup: () => Promise<void>;
beforeEach(async () => {
  now = start;
  const temporary = await openTemporary();
  home = await Home.open(await mkdtemp(join(tmpdir(), 'devmgr-keys-')));
  cleanup = async () => {
    await temporary.cleanup();
    await rm(home.dir, { recursive: true, force: true });
  };
  tokens = new Tokens(await signingKeys(home, now), new Accounts(temporary.store), () => now);
});
afterEach(() => cleanup());

/** Replaces the key of the running daemon; returns the replaced one. */
async function rotate(options: { revokeNow?: boolean } = {}): Promise<SigningKey> {
  const [replaced] = await signingKeys(home, now);
  await rotateSigningKey(home, now, options);
  tokens.useKeys(await signingKeys(home, now));
  return replaced;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token of the role LOCAL that the holder of a key has signed. */
function forged({ key }: SigningKey, issuedAt: number, lifetime = day): string {
  const iat = Math.floor(issuedAt / 1000);
  // Local tokens are valid in the process that wrote them.
  const { process } = JSON.parse(Buffer.from(tokens.issueLocal().token.split('.')[1]!, 'base64url').toString());
  const claims = { sub: 'LOCAL', username: 'local', role: 'LOCAL', epoch: 0, process, iat, exp: iat + lifetime / 1000 };
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

/** 200 if the token is accepted, else the code of the refusal. */
async function tried(token: string): Promise<number> {
  try {
    await tokens.check(token);
    return 200;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('a replaced key', () => {
  it('issues no valid token after its replacement: not at once, not after 25 hours, not after 30 days', async () => {
    now += hour;
    const replaced = await rotate();
    expect(await tried(forged(replaced, now - 60 * second))).toBe(200);
    for (const later of [3 * second, 60 * second, 23 * hour, 25 * hour, 30 * day]) {
      now = start + hour + later;
      expect(await tried(forged(replaced, now))).toBe(1004);
    }
  });

  it('leaves its tokens valid until they expire, and no token longer than 24 hours', async () => {
    const { token } = tokens.issueLocal();
    now += hour;
    const { token: late } = tokens.issueLocal();
    const replaced = await rotate();
    now = start + day - 2 * second;
    expect(await tried(token)).toBe(200);
    now += 2 * second;
    expect(await tried(token)).toBe(1005);
    expect(await tried(late)).toBe(200);
    now = start + hour + day;
    expect(await tried(late)).toBe(1005);
    // Issued within the tolerance: the end of the key ends it.
    expect(await tried(forged(replaced, start + hour + 2 * second))).toBe(1005);
  });

  it('accepts the token that a daemon signs just before it reads the new key', async () => {
    const [replaced] = await signingKeys(home, now);
    await rotateSigningKey(home, now);
    now += second;
    const { token } = tokens.issueLocal();
    tokens.useKeys(await signingKeys(home, now));
    expect(await tried(token)).toBe(200);
    expect(await tried(forged(replaced, start + 3 * second))).toBe(1004);
  });

  it('keeps the time of its own replacement when its successor is replaced too', async () => {
    const first = await rotate();
    now += hour;
    const second = await rotate();
    expect(await tried(forged(first, start + hour / 2))).toBe(1004);
    expect(await tried(forged(second, start + hour / 2))).toBe(200);
    expect(await tried(forged(second, start - hour))).toBe(1004);
  });

  it('is refused at once with revokeNow, and with it every key before it', async () => {
    const first = await rotate();
    const { token } = tokens.issueLocal();
    expect(await tried(token)).toBe(200);
    const second = await rotate({ revokeNow: true });
    expect(await tried(token)).toBe(1004);
    expect(await tried(forged(first, start - hour))).toBe(1004);
    expect(await tried(forged(second, start))).toBe(1004);
    expect(await tried(tokens.issueLocal().token)).toBe(200);
    expect((await readFile(home.path('signingKey'), 'utf8')).trim().split('\n')).toHaveLength(1);
  });
});

describe('a session', () => {
  const loginOf = async (token: string) => (await tokens.check(token)).loginAt;

  it('that began before tokens had the time of the login counts from the time of issue', async () => {
    const [key] = await signingKeys(home, now);
    expect(await loginOf(forged(key, now))).toBe(Math.floor(now / 1000));
  });

  it('has the time of its login in every token', async () => {
    expect(await loginOf(tokens.issueLocal().token)).toBe(Math.floor(start / 1000));
  });
});

describe('the current key', () => {
  it('signs no token that is valid for longer than 24 hours, or that was issued before the key was created', async () => {
    await rotate();
    const [current] = await signingKeys(home, now);
    expect(await tried(forged(current, now))).toBe(200);
    expect(await tried(forged(current, now, day + second))).toBe(1004);
    expect(await tried(forged(current, now - 60 * second))).toBe(1004);
  });

  it('issues valid tokens even if the clock was set back since it was created', async () => {
    await rotate();
    now -= hour;
    expect(await tried(tokens.issueLocal().token)).toBe(200);
  });

  it('of a file that an earlier version wrote is valid from any time', async () => {
    const [key] = await signingKeys(home, now);
    await writeFile(home.path('signingKey'), `${Buffer.from(key.key).toString('base64url')}\n`);
    tokens.useKeys(await signingKeys(home, now));
    expect(await tried(forged(key, start - hour))).toBe(200);
    expect(await rotate()).toEqual({ ...key, createdAt: null });
    expect(await tried(forged(key, start - hour))).toBe(200);
    expect(await tried(forged(key, start + 60 * second))).toBe(1004);
  });
});

it('a file whose first key was replaced is damaged', async () => {
  await rotate();
  const [, replaced] = (await readFile(home.path('signingKey'), 'utf8')).split('\n');
  await writeFile(home.path('signingKey'), `${replaced}\n`);
  await expect(signingKeys(home, now)).rejects.toThrow(/damaged/);
});
