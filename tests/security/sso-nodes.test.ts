/** Single sign-on on two daemons of one registry in PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registration } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { Browser, type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { openStream } from '../support/stream-client.ts';
import { startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

needsPostgres('single sign-on on two daemons', () => {
  let server: PostgresServer;
  let daemons: TwoDaemons;
  let provider: SsoProvider;
  beforeAll(async () => {
    server = await PostgresServer.start();
    daemons = await startTwoDaemons(server);
    // One address, as behind a load balancer.
    await daemons.two.restart({ publicUrl: daemons.one.url });
    provider = await startSsoProvider({ daemons: [daemons.one.url] });
    provider.people.set('s-ana', { name: 'ana', groups: ['keys-admins'] });
    await setUp(daemons.one, provider);
  });
  afterAll(async () => {
    await provider?.stop();
    await daemons?.stop();
    await server?.stop();
  });

  const codes = async (token: string) => {
    const both = [daemons.one, daemons.two].map(daemon =>
      daemon.call('GET', '/api/auth/session', undefined, { token }),
    );
    return (await Promise.all(both)).map(({ code }) => code);
  };
  const signIn = () => new Browser().signIn(daemons.one, 's-ana', daemons.two);

  it('a sign-in that began at one ends at the other', async () => {
    const { problem, token, user } = await signIn();
    expect({ problem, user }).toMatchObject({ problem: null, user: { username: 'ana', role: 'ADMIN' } });
    expect(await codes(token)).toEqual([200, 200]);
  });

  it('a logout by the provider ends the session on both', async () => {
    const { token } = await signIn();
    expect(await codes(token)).toEqual([200, 200]);
    await provider.logout('s-ana');
    await expect.poll(() => codes(token)).toEqual([1004, 1004]);
  });

  it('a change at one ends its sessions: the other carries out no write from then on, and its streams end', async () => {
    for (let i = 0; i < 5; i++) {
      const { token } = await signIn();
      expect(await codes(token)).toEqual([200, 200]);
      const stream = await openStream(daemons.two.url, { token });
      expect((await daemons.one.call('PUT', '/api/sso', { enabled: false })).code).toBe(200);
      // Before the other daemon can have learned of it: the commit refuses.
      const written = await daemons.two.call('POST', '/api/devices/register', registration(), { token });
      expect(written).toMatchObject({ status: 401, code: 1004 });
      expect((await stream.closed).code).toBe(4401);
      expect(await codes(token)).toEqual([1004, 1004]);
      await setUp(daemons.one, provider);
      expect(await codes(token)).toEqual([1004, 1004]);
    }
  });

  it('the provider is asked once in its interval whether a terminal is signed in, by all daemons together', async () => {
    const { data: started } = await daemons.one.call('POST', '/api/auth/sso/device', {}, { token: null });
    const asked = () => provider.requested.filter(path => path === '/token').length;
    const before = asked();
    const body = { deviceCode: started.deviceCode };
    const polls = [daemons.one, daemons.two, daemons.one, daemons.two].map(daemon =>
      daemon.call('POST', '/api/auth/sso/device/poll', body, { token: null }),
    );
    for (const answer of await Promise.all(polls)) expect(answer.data).toMatchObject({ state: 'PENDING' });
    expect(asked()).toBe(before + 1);
  });

  it('of many requests at the end of a check, one asks the provider, and a removed group ends the session on both', async () => {
    const { token } = await signIn();
    const due = async () => {
      await server.query(
        `UPDATE sso_session SET sessions = regexp_replace(sessions, '"checkedAt":\\d+', '"checkedAt":1', 'g')`,
        daemons.database,
      );
      // Notes of daemons are forgotten with any change of a user.
      await daemons.one.user(`user-${provider.requested.length}`, 'VIEWER');
      await expect.poll(async () => (await daemons.two.call('GET', '/api/users/list')).code).toBe(200);
    };
    await due();
    const before = provider.requested.filter(path => path === '/token').length;
    const many = await Promise.all(Array.from({ length: 10 }, () => codes(token)));
    expect(new Set(many.flat())).toEqual(new Set([200]));
    expect(provider.requested.filter(path => path === '/token').length).toBe(before + 1);
    provider.people.set('s-ana', { name: 'ana', groups: ['staff'] });
    await due();
    await expect.poll(() => codes(token)).toEqual([1004, 1004]);
  });
});
