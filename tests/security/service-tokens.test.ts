/** Service tokens over HTTP: creation, list, revocation, and what they may do. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit, check } from '../../daemon/maintenance/programs.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, packageForm, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { serviceToken } from '../support/service-token.ts';
import { openStream } from '../support/stream-client.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const create = (body: object) => daemon.call('POST', '/api/tokens', body);
const revoke = (tokenId: string) => daemon.call('POST', `/api/tokens/${tokenId}/revoke`);
const me = (token: string) => daemon.call('GET', '/api/users/me', undefined, { token });
const listed = async (tokenId: string) => {
  const { list } = data(await daemon.call('GET', '/api/tokens/list?size=100'));
  return list.find((item: { tokenId: string }) => item.tokenId === tokenId);
};
const entriesOf = async (types: readonly string[]) => {
  const options = { home: daemon.home, json: true, device: null, since: null, limit: null, verify: false, types };
  const { stdout } = await runDaemonProgram(audit, options);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
};

describe('creation', () => {
  it('returns the token once, with exactly the documented fields', async () => {
    const networks = { allowedFrom: ['127.0.0.0/8', '::1/128'] };
    const body = { name: 'line-3', role: 'DEALER', expiresInDays: 30, ...networks, may: ['scim', 'webhooks'] };
    const before = Date.now();
    const made = data(await create(body));
    expect(Object.keys(made).sort()).toEqual(['expiresAt', 'may', 'name', 'role', 'token', 'tokenId']);
    expect(made).toMatchObject({ name: 'line-3', role: 'DEALER', tokenId: expect.stringMatching(/^TOK-[1-9]\d*$/) });
    expect(made.may).toEqual(['scim', 'webhooks']);
    expect(made.token).toMatch(/^devmgr_[0-9A-Za-z]{49}$/);
    expect(Math.abs(Date.parse(made.expiresAt) - before - 30 * 86_400_000)).toBeLessThan(60_000);
    const item = await listed(made.tokenId);
    expect(item).toEqual({
      tokenId: made.tokenId,
      name: 'line-3',
      role: 'DEALER',
      createdBy: 'admin',
      owner: 'admin',
      ownerLost: false,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: made.expiresAt,
      lastUsedAt: null,
      revokedAt: null,
      allowedFrom: ['127.0.0.0/8', '::1/128'],
      may: ['scim', 'webhooks'],
    });
  });

  const valid = { name: 'never', role: 'VIEWER', expiresInDays: 1 };
  it.each([
    [{ name: undefined }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ role: undefined }, 'role'],
    [{ role: 'LOCAL' }, 'role'],
    [{ expiresInDays: undefined }, 'expiresInDays'],
    [{ expiresInDays: 0 }, 'expiresInDays'],
    [{ expiresInDays: 366 }, 'expiresInDays'],
    [{ expiresInDays: '30' }, 'expiresInDays'],
    [{ allowedFrom: '10.0.0.0/8' }, 'allowedFrom'],
    [{ allowedFrom: [] }, 'allowedFrom'],
    [{ allowedFrom: ['10.0.0.0/8', '10.0.0.0/33'] }, 'allowedFrom'],
    [{ allowedFrom: ['anywhere'] }, 'allowedFrom'],
    [{ allowedFrom: [null] }, 'allowedFrom'],
    [{ allowedFrom: Array(33).fill('10.0.0.0/8') }, 'allowedFrom'],
    [{ may: 'webhooks' }, 'may'],
    [{ may: ['webhooks', 'users'] }, 'may'],
    [{ may: ['Webhooks'] }, 'may'],
    [{ may: [null] }, 'may'],
    [{ may: ['webhooks', 'webhooks'] }, 'may'],
    [{ may: ['webhooks', 'policies', 'scim', 'scim'] }, 'may'],
  ])('refuses %j with 1001 and names the field', async (wrong, field) => {
    expect(await create({ ...valid, ...wrong })).toMatchObject({
      status: 400,
      code: 1001,
      message: expect.stringContaining(field),
    });
  });

  it('accepts 1 and 365 days, and null or nothing for any network', async () => {
    for (const more of [{ expiresInDays: 365 }, { allowedFrom: null }, { allowedFrom: undefined }]) {
      const { tokenId } = await serviceToken(daemon, more);
      expect((await listed(tokenId)).allowedFrom).toBeNull();
    }
  });

  it.each([undefined, null, []])('with %j as permissions gives the token none', async may => {
    const made = data(await create({ name: `none ${may}`, role: 'ADMIN', expiresInDays: 1, may }));
    expect([made.may, (await listed(made.tokenId)).may]).toEqual([[], []]);
  });

  it('refuses a name that a token has, until that token is revoked', async () => {
    const { tokenId } = await serviceToken(daemon, { name: 'taken' });
    const again = { name: ' taken ', role: 'VIEWER', expiresInDays: 1 };
    expect(await create(again)).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('name') });
    data(await revoke(tokenId));
    expect(await create(again)).toMatchObject({ code: 200 });
  });

  it('of the same name many times at once succeeds once', async () => {
    const same = Array.from({ length: 10 }, () => create({ name: 'race', role: 'VIEWER', expiresInDays: 1 }));
    expect((await Promise.all(same)).map(({ code }) => code).sort((a, b) => a - b)).toEqual([
      200,
      ...Array(9).fill(1001),
    ]);
  });
});

describe('the token', () => {
  it('is in no later response, not in the home, and not in the log', async () => {
    const { token } = await serviceToken(daemon);
    data(await me(token));
    await openStream(daemon.url, { token }).then(({ ws }) => ws.terminate());
    const wrong = await me(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`);
    expect(wrong).toMatchObject({ status: 401, code: 1004 });
    const responses = [wrong, await daemon.call('GET', '/api/tokens/list?size=100'), ...(await entriesOf([]))];
    expect(JSON.stringify(responses)).not.toContain(token.slice(0, 30));
    expect(daemon.logged()).not.toContain(token.slice(0, 30));
    for (const file of ['devmgr.db', 'devmgr.db-wal'])
      expect((await readFile(join(daemon.home, file))).includes(token.slice(0, 30))).toBe(false);
  });

  it('shows what it is, and where it expires', async () => {
    const made = await serviceToken(daemon, { name: 'who', role: 'VIEWER' });
    expect(data(await me(made.token))).toEqual({
      id: made.tokenId,
      username: 'token:who',
      role: 'VIEWER',
      email: null,
      disabled: false,
      createdAt: expect.any(String),
      expiresAt: made.expiresAt,
    });
  });

  it('is the actor of what it does', async () => {
    const { token } = await serviceToken(daemon, { name: 'the maker', role: 'ADMIN' });
    const { deviceId } = await register(daemon, {}, token);
    const entries = await entriesOf(['DEVICE_REGISTERED']);
    expect(entries.find(entry => entry.deviceId === deviceId)).toMatchObject({ user: 'token:the maker' });
    const uploaded = await daemon.call('POST', '/api/app-versions/upload', undefined, { token, raw: packageForm() });
    expect(data(uploaded).uploadedBy).toBe('token:the maker');
  });

  it('stays valid when the daemon restarts', async () => {
    const { token, tokenId } = await serviceToken(daemon);
    expect(await me(token)).toMatchObject({ code: 200 });
    const { lastUsedAt } = await listed(tokenId);
    expect(lastUsedAt).not.toBeNull();
    await daemon.restart();
    expect(await listed(tokenId)).toMatchObject({ createdBy: 'admin', lastUsedAt });
    expect(await me(token)).toMatchObject({ code: 200 });
  });

  it('needs the password of an enabled ADMIN where one is asked for', async () => {
    data(await daemon.call('POST', '/api/users', { username: 'second', password: 'the second admin', role: 'ADMIN' }));
    data(await daemon.call('POST', '/api/users', { username: 'vic', password: 'only for reading', role: 'VIEWER' }));
    for (const role of ['ADMIN', 'DEALER']) {
      const { token } = await serviceToken(daemon, { role });
      const deactivate = async (confirmPassword: string) => {
        const { deviceId } = await deviceIn('ACTIVE', daemon);
        const body = { reason: 'worn out', confirmPassword };
        return (await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, body, { token })).code;
      };
      expect(await deactivate(adminPassword)).toBe(200);
      expect(await deactivate('the second admin')).toBe(200);
      expect(await deactivate('only for reading')).toBe(1003);
    }
  });
});

describe('the list', () => {
  it('is paged, the newest first unless asked otherwise', async () => {
    await serviceToken(daemon);
    const { tokenId } = await serviceToken(daemon);
    const page = data(await daemon.call('GET', '/api/tokens/list?page=1&size=1'));
    expect(page.list.map((item: { tokenId: string }) => item.tokenId)).toEqual([tokenId]);
    expect(page.pagination).toMatchObject({ page: 1, size: 1, totalPages: page.pagination.total });
    const first = data(await daemon.call('GET', '/api/tokens/list?size=1&sortOrder=asc'));
    expect(first.list[0].tokenId).toBe('TOK-1');
  });
});

describe('revocation', () => {
  it('takes effect at the next request, ends the streams of the token with 4401, and those of no other', async () => {
    const [gone, other] = [await serviceToken(daemon), await serviceToken(daemon)];
    const headers = { authorization: `Bearer ${gone.token}` };
    const streams = [
      await openStream(daemon.url, { token: gone.token }),
      await openStream(daemon.url, {}, { headers }),
    ];
    const bystanders = await Promise.all(
      [other.token, daemon.adminToken].map(token => openStream(daemon.url, { token })),
    );
    const revoked = data(await revoke(gone.tokenId));
    expect(revoked).toMatchObject({ tokenId: gone.tokenId, revokedAt: expect.stringMatching(/Z$/) });
    expect(await me(gone.token)).toMatchObject({ status: 401, code: 1004 });
    await expect(openStream(daemon.url, { token: gone.token })).rejects.toThrow();
    for (const { closed } of streams) expect((await closed).code).toBe(4401);
    expect(await me(other.token)).toMatchObject({ code: 200 });
    for (const { ws } of bystanders) {
      expect(ws.readyState).toBe(ws.OPEN);
      ws.terminate();
    }
  });

  it('is idempotent, and its first moment stays', async () => {
    const { tokenId } = await serviceToken(daemon);
    const { revokedAt } = data(await revoke(tokenId));
    expect(data(await revoke(tokenId)).revokedAt).toBe(revokedAt);
    expect((await entriesOf(['TOKEN_REVOKED'])).filter(({ timestamp }) => timestamp === revokedAt)).toHaveLength(1);
  });

  it.each(['TOK-999999', 'TOK-0', 'USR-1', 'unknown'])('of %s is 404', async tokenId => {
    expect(await revoke(tokenId)).toMatchObject({ status: 404, code: 404, data: null });
  });
});

it('creation and revocation are in the journal, with their actor, and are events for ADMINs', async () => {
  const stream = await openStream(daemon.url, { token: daemon.adminToken });
  const { tokenId } = await serviceToken(daemon, { name: 'on record', role: 'VIEWER', may: ['policies'] });
  data(await revoke(tokenId));
  const entries = (await entriesOf(['TOKEN_CREATED', 'TOKEN_REVOKED'])).slice(-2);
  expect(entries).toMatchObject([
    { type: 'TOKEN_CREATED', user: 'admin', details: { name: 'on record', role: 'VIEWER', may: ['policies'] } },
    { type: 'TOKEN_REVOKED', user: 'admin', details: { name: 'on record' } },
  ]);
  const { serialNumber } = await register(daemon);
  await stream.untilSome(({ data }) => data.serialNumber === serialNumber);
  expect(stream.frames.map(({ type }) => type)).toEqual(['TOKEN_CREATED', 'TOKEN_REVOKED', 'DEVICE_REGISTERED']);
  stream.ws.terminate();
  expect((await runDaemonProgram(check, { home: daemon.home, json: true })).code).toBe(0);
});
