/** The text of service tokens, and when they are looked up and accepted. */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LastUses } from '../../daemon/accounts/last-uses.ts';
import { hasLostOwner, hasMade, refusalOf } from '../../daemon/accounts/service-token.ts';
import { isServiceTokenText, newServiceTokenText } from '../../daemon/accounts/service-token-text.ts';
import { ServiceTokens } from '../../daemon/accounts/service-tokens.ts';
import { insideOf, isCidr } from '../../daemon/base/networks.ts';
import type { ServiceTokenRecord } from '../../daemon/requests/callers.ts';
import { type Commit, StoreFailure } from '../../daemon/store/commit.ts';

const record: ServiceTokenRecord = {
  number: 1,
  name: 'line-3',
  role: 'DEALER',
  sha256: 'ab',
  createdBy: 'admin',
  owner: null,
  createdAt: 0,
  expiresAt: 1000,
  lastUsedAt: null,
  revokedAt: null,
  allowedFrom: null,
  may: [],
};

describe('the text of a service token', () => {
  it('is devmgr_, 43 digits for 256 random bits, and 6 digits of the CRC-32 of both', () => {
    const text = newServiceTokenText();
    expect(text).toMatch(/^devmgr_[0-9A-Za-z]{49}$/);
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const check = [...text.slice(-6)].reduce((number, digit) => number * 62 + digits.indexOf(digit), 0);
    expect(check).toBe(crc32(text.slice(0, -6)));
    expect(newServiceTokenText()).not.toBe(text);
  });

  it('is not valid if any character is another one, missing or added', () => {
    const text = newServiceTokenText();
    expect(isServiceTokenText(text)).toBe(true);
    for (let i = 0; i < text.length; i++) {
      const other = text[i] === 'x' ? 'y' : 'x';
      expect(isServiceTokenText(text.slice(0, i) + other + text.slice(i + 1))).toBe(false);
    }
    for (const wrong of ['', 'devmgr_', text.slice(0, -1), `${text}0`, ` ${text}`, text.toLowerCase()])
      expect(isServiceTokenText(wrong)).toBe(false);
  });
});

describe('a check', () => {
  function tokens() {
    const reads: string[] = [];
    const uses: number[] = [];
    let behind = 0;
    let changed = (_numbers: readonly number[], _everything?: boolean) => {};
    const checked = new ServiceTokens({
      store: {
        async serviceTokenByDigest(sha256) {
          reads.push(sha256);
          return record;
        },
        user: async () => null,
        userByName: async () => null,
        personByName: async () => null,
        onCommit(listener) {
          changed = (serviceTokens, everything = false) =>
            listener({ lastEventId: 1, users: [], serviceTokens, everything });
          return () => {};
        },
        behind: () => behind,
      },
      lastUses: { note: token => uses.push(token) },
      now: () => 0,
    });
    const setBehind = (milliseconds: number) => {
      behind = milliseconds;
    };
    return { checked, reads, uses, setBehind, changed: (...args: Parameters<typeof changed>) => changed(...args) };
  }

  it('of a text with a wrong checksum does not read the store', async () => {
    const { checked, reads, uses } = tokens();
    const text = `${newServiceTokenText().slice(0, -1)}-`;
    await expect(checked.check(text, '10.0.0.1')).rejects.toMatchObject({ code: 1004 });
    expect(() => checked.checkNow(text, '10.0.0.1')).toThrow(/invalid/);
    expect([reads, uses]).toEqual([[], []]);
  });

  it('reads the store each time while commits of other daemons are not known', async () => {
    const { checked, reads, setBehind } = tokens();
    const text = newServiceTokenText();
    await checked.check(text, '10.0.0.1');
    setBehind(999);
    expect(checked.checkNow(text, '10.0.0.1')).not.toBeNull();
    setBehind(1000);
    expect(checked.checkNow(text, '10.0.0.1')).toBeNull();
    await checked.check(text, '10.0.0.1');
    await checked.check(text, '10.0.0.1');
    expect(reads).toHaveLength(3);
    setBehind(0);
    expect(checked.checkNow(text, '10.0.0.1')).not.toBeNull();
  });

  it('reads the store by the digest once, and again after tokens have changed', async () => {
    const { checked, reads, uses, changed } = tokens();
    const text = newServiceTokenText();
    expect(checked.checkNow(text, '10.0.0.1')).toBeNull();
    for (let i = 0; i < 3; i++)
      expect(await checked.check(text, '10.0.0.1')).toMatchObject({ role: 'DEALER', user: null, serviceToken: record });
    expect(checked.checkNow(text, '10.0.0.1')).toMatchObject({ expiresAt: 1 });
    expect(reads).toEqual([hash('sha256', text, 'hex')]);
    expect(uses).toEqual([1, 1, 1, 1]);
    changed([]);
    expect(checked.checkNow(text, '10.0.0.1')).not.toBeNull();
    changed([2]);
    expect(checked.checkNow(text, '10.0.0.1')).toBeNull();
    await checked.check(text, '10.0.0.1');
    // Another server may lack what the last one has shown.
    changed([], true);
    expect(checked.checkNow(text, '10.0.0.1')).toBeNull();
  });

  it('does not cache what it read while tokens changed', async () => {
    const { checked, changed } = tokens();
    const text = newServiceTokenText();
    const reading = checked.check(text, '10.0.0.1');
    changed([1]);
    await reading;
    expect(checked.checkNow(text, '10.0.0.1')).toBeNull();
  });

  const verdicts = [
    [{}, 999, true, null],
    [{}, 1000, true, 1005],
    [{}, 0, false, 1004],
    [{ revokedAt: 5 }, 0, true, 1004],
    [{ revokedAt: 5 }, 2000, true, 1004],
  ] as const;
  it.each(verdicts)('of a token with %j at %i ms, inside its networks %j: %j', (more, now, isInside, code) => {
    expect(refusalOf({ ...record, ...more }, now, { isInside, isOwnerLost: false })?.code ?? null).toBe(code);
  });

  const gone = { active: false, heldAt: null, dueAt: null };
  it.each([
    [null, null, false],
    [null, gone, false],
    [{ disabled: true }, null, true],
    [{ disabled: false }, null, false],
    [{ disabled: false }, { ...gone, active: true }, false],
    [{ disabled: false }, gone, true],
    [{ disabled: false }, { ...gone, heldAt: 5 }, false],
    [{ disabled: false }, { ...gone, dueAt: 5 }, false],
  ] as const)('of a token with the owner %j and the person %j: ends with them %j', (owner, person, isLost) => {
    expect(hasLostOwner(owner, person)).toBe(isLost);
    const refusal = refusalOf(record, 0, { isInside: true, isOwnerLost: isLost });
    expect(refusal?.code ?? null).toBe(isLost ? 1004 : null);
  });
});

describe('a webhook', () => {
  const token = { ...record, number: 3, createdAt: 100, revokedAt: 200 };
  const webhook = { number: 1, url: '', types: null, sealed: '', enabledAt: null, disabled: null };

  it.each([
    [{ madeBy: 'TOK-3', createdBy: 'token:line-3', createdAt: 150 }, true],
    [{ madeBy: 'TOK-4', createdBy: 'token:line-3', createdAt: 150 }, false],
    [{ madeBy: 'USR-3', createdBy: 'line-3', createdAt: 150 }, false],
    [{ madeBy: null, createdBy: null, createdAt: 150 }, false],
    // Of a version that stored the name alone: the token that had it at that time.
    [{ createdBy: 'token:line-3', createdAt: 100 }, true],
    [{ createdBy: 'token:line-3', createdAt: 200 }, true],
    [{ createdBy: 'token:line-3', createdAt: 99 }, false],
    [{ createdBy: 'token:line-3', createdAt: 201 }, false],
    [{ createdBy: 'line-3', createdAt: 150 }, false],
    [{ createdBy: null, createdAt: 150 }, false],
  ])('with %j was made by the token: %j', (maker, isMade) => {
    expect(hasMade(token, { ...webhook, ...maker })).toBe(isMade);
  });
});

describe('a network', () => {
  it.each(['10.0.0.0/8', '0.0.0.0/0', '192.0.2.7/32', '2001:db8::/32', '::/0', '::1/128', '10.1.2.3/8'])(
    '%s is a CIDR',
    text => expect(isCidr(text)).toBe(true),
  );
  it.each([
    '',
    '/',
    '10.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/ 8',
    '10.0.0.0/0008',
    '10.0.0/8',
    '010.0.0.0/8',
    '256.0.0.0/8',
    '2001:db8::/129',
    'fe80::1%eth0/64',
    'localhost/8',
    `10.0.0.0/${'8'.repeat(100_000)}`,
  ])('%s is not', text => expect(isCidr(text)).toBe(false));

  it('contains its addresses, in their IPv6 form too, and no others', () => {
    const isInside = insideOf(['10.1.0.0/16', '2001:db8::/32', 'fe80::/10']);
    for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '2001:db8::1', 'fe80::1%eth0'])
      expect([address, isInside(address)]).toEqual([address, true]);
    for (const address of ['10.2.0.0', '::ffff:10.2.0.1', '2001:db9::1', '::1', '127.0.0.1', 'unknown', '', undefined])
      expect([address, isInside(address)]).toEqual([address, false]);
  });
});

describe('last uses', () => {
  function uses() {
    const commits: Commit[] = [];
    const state = { now: 10, fails: false, tick: () => {} };
    const lastUses = new LastUses({
      store: {
        async commit(commit) {
          if (state.fails) throw new StoreFailure('the disk is full');
          commits.push(commit);
          return [];
        },
      },
      now: () => state.now,
      every: (_milliseconds, call) => {
        state.tick = call;
        return () => {};
      },
    });
    const written = () => commits.map(({ changes }) => changes);
    return { lastUses, state, written };
  }
  const use = (token: number, usedAt: number) => ({ kind: 'token.use', token, usedAt });

  it('of many requests are one commit a minute, and none if nothing was used', async () => {
    const { lastUses, state, written } = uses();
    for (let i = 0; i < 1000; i++) lastUses.note(1 + (i % 2));
    state.now = 20;
    lastUses.note(2);
    expect(written()).toEqual([]);
    await lastUses.write();
    await lastUses.write();
    expect(written()).toEqual([[use(1, 10), use(2, 20)]]);
  });

  it('are written at the stop, and kept while the store cannot write', async () => {
    const { lastUses, state, written } = uses();
    lastUses.note(1);
    state.fails = true;
    await lastUses.write();
    expect(lastUses.latest(1, 5)).toBe(10);
    state.fails = false;
    await lastUses.stop();
    expect(written()).toEqual([[use(1, 10)]]);
    expect([lastUses.latest(1, 5), lastUses.latest(2, null)]).toEqual([5, null]);
  });
});
