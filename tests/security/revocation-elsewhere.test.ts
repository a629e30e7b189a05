/** Revocation on one daemon holds on another one: for writes at once, for reads and streams without news of it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Watch } from '../../daemon/store/postgres/watch.ts';
import type { Answer, TestDaemon } from '../support/daemon.ts';
import { data, freshSerial, registration } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { serviceToken } from '../support/service-token.ts';
import { openStream } from '../support/stream-client.ts';
import { startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

let server: PostgresServer;
let daemons: TwoDaemons;
let names = 0;

interface Caller {
  readonly token: string;
  /** Takes the right to write away, through the first daemon. */
  readonly revoke: () => Promise<Answer>;
}

async function dealer(revoke: (id: string) => readonly [method: string, path: string, body?: unknown]) {
  const { id, token } = await daemons.one.user(`dealer-${++names}`, 'DEALER');
  return { token, revoke: () => daemons.one.call(...revoke(id)) };
}

const revoked: Readonly<Record<string, () => Promise<Caller>>> = {
  'a user who was disabled': () => dealer(id => ['PUT', `/api/users/${id}`, { disabled: true }]),
  'a user whose password was changed': () =>
    dealer(id => ['POST', `/api/users/${id}/password`, { password: 'another password' }]),
  'a user who was logged out': () => dealer(id => ['POST', `/api/users/${id}/logout`]),
  'a service token that was revoked': async () => {
    const { tokenId, token } = await serviceToken(daemons.one);
    return { token, revoke: () => daemons.one.call('POST', `/api/tokens/${tokenId}/revoke`) };
  },
  'a service token whose owner was disabled': async () => {
    const owner = await daemons.one.user(`owner-${++names}`, 'ADMIN');
    const body = { name: `owned-${names}`, role: 'DEALER', expiresInDays: 1 };
    const { token } = data(await daemons.one.call('POST', '/api/tokens', body, { token: owner.token }));
    return { token, revoke: () => daemons.one.call('PUT', `/api/users/${owner.id}`, { disabled: true }) };
  },
};
const withoutRole = () => dealer(id => ['PUT', `/api/users/${id}`, { role: 'VIEWER' }]);

const register = (daemon: TestDaemon, token: string, body: object, headers = {}) =>
  daemon.call('POST', '/api/devices/register', body, { token, headers });
const list = (daemon: TestDaemon, token: string) => daemon.call('GET', '/api/devices/list', undefined, { token });
const isRegistered = async (serial: string) =>
  data(await daemons.one.call('GET', `/api/devices/list?serialNumber=${serial}`)).pagination.total === 1;

/** Revokes through the first daemon; the second one refuses writes at once, reads soon, and closes the stream. */
async function isRefusedElsewhere(make: () => Promise<Caller>): Promise<void> {
  const { token, revoke } = await make();
  data(await list(daemons.two, token));
  const stream = await openStream(daemons.two.url, { token });
  data(await revoke());
  const serialNumber = freshSerial();
  expect(await register(daemons.two, token, registration({ serialNumber }))).toMatchObject({ code: 1004 });
  expect(await isRegistered(serialNumber)).toBe(false);
  await vi.waitFor(async () => expect(await list(daemons.two, token)).toMatchObject({ code: 1004 }), 10_000);
  expect((await stream.closed).code).toBe(4401);
}

needsPostgres('two daemons on one database', () => {
  beforeAll(async () => {
    server = await PostgresServer.start();
    daemons = await startTwoDaemons(server);
  });
  afterAll(async () => {
    await daemons?.stop();
    await server?.stop();
  });

  it.each(Object.entries(revoked))(
    '%s on one is refused with 1004 on the other: writes at once, other requests soon',
    (_who, make) => isRefusedElsewhere(make),
  );

  it('a user with another role is refused with 2007 at the next write', async () => {
    const { token, revoke } = await withoutRole();
    data(await list(daemons.two, token));
    data(await revoke());
    const serialNumber = freshSerial();
    expect(await register(daemons.two, token, registration({ serialNumber }))).toMatchObject({ code: 2007 });
    expect(await isRegistered(serialNumber)).toBe(false);
  });

  describe('that does not learn of the commits of the other', () => {
    beforeEach(() => {
      vi.spyOn(Watch.prototype, 'look').mockResolvedValue();
    });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    it.each(Object.entries(revoked))('%s is still refused with 1004', (_who, make) => isRefusedElsewhere(make));

    it.each(Object.entries(revoked))('the stream of %s is closed without another request', async (_who, make) => {
      const { token, revoke } = await make();
      const stream = await openStream(daemons.two.url, { token });
      // Its token was checked when it was opened: that check is over when an event has arrived.
      data(await register(daemons.two, daemons.two.adminToken, registration()));
      await stream.until(1);
      data(await revoke());
      expect((await stream.closed).code).toBe(4401);
    });

    it('a refusal of a request with an Idempotency-Key is not stored', async () => {
      const { token, revoke } = await withoutRole();
      data(await list(daemons.two, token));
      data(await revoke());
      const headers = { 'idempotency-key': 'revoked' };
      const body = registration();
      expect(await register(daemons.two, token, body, headers)).toMatchObject({ code: 2007 });
      const again = await register(daemons.one, token, body, headers);
      expect(again).toMatchObject({ code: 2007 });
      expect(again.headers.get('idempotent-replay')).toBeNull();
    });
  });

  it('a daemon that cannot find out whether a token is valid answers 503, and is right again afterwards', async () => {
    const { token } = await daemons.one.user(`dealer-${++names}`, 'DEALER');
    data(await list(daemons.two, token));
    await server.kill();
    const answer = await vi.waitFor(async () => {
      const found = await daemons.two.call('GET', '/api/users/me', undefined, { token });
      expect(found.status).toBe(503);
      return found;
    }, 10_000);
    expect(answer.headers.get('retry-after')).toBe('1');
    await server.run();
    await vi.waitFor(async () => data(await list(daemons.two, token)), 10_000);
  });
});
