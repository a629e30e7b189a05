/** Keys that are issued on two daemons of one registry in PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { activation, data, register } from '../support/fleet.ts';
import { answerOf, startEntra, startWebauthnServer } from '../support/issuing-providers.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

needsPostgres('issuing on two daemons', () => {
  let server: PostgresServer;
  let daemons: TwoDaemons;
  beforeAll(async () => {
    server = await PostgresServer.start();
    daemons = await startTwoDaemons(server, { webhookAllow: ['127.0.0.1'] });
  });
  afterAll(async () => {
    await daemons?.stop();
    await server?.stop();
  });

  it.each(Object.entries({ 'Entra ID': startEntra, 'a WebAuthn server': startWebauthnServer }))(
    'an answer that is repeated at the other daemon, while %s verifies the first one, is accepted once',
    async (name, start) => {
      const { one, two } = daemons;
      const { state, settings } = await start();
      const { providerId } = data(await one.call('POST', '/api/providers', { name, ...settings }));
      const { deviceId } = data(await one.call('POST', '/api/devices/activate', activation(await register(one), name)));
      const path = `/api/devices/${deviceId}/credentials`;
      const begun = data(await one.call('POST', path, { providerId }));
      const body = { response: answerOf(begun) };
      const finish = () => `${path}/${begun.credentialId}`;
      let second: ReturnType<typeof two.call> | undefined;
      const requests = (kind: string) => state.requests.filter(request => request === kind).length;
      state.verifying = async () => {
        second = two.call('POST', finish(), body);
        // It is refused, and finds nothing.
        await expect.poll(() => requests('finish')).toBe(2);
        const before = requests('list');
        if (name === 'Entra ID') await expect.poll(() => requests('list')).toBeGreaterThan(before);
      };
      const first = data(await one.call('POST', finish(), body));
      expect(first).toMatchObject({ pending: false, createdAt: expect.any(String) });
      expect(data((await second)!)).toEqual(first);
      expect(state.accepted).toHaveLength(1);
    },
  );
});
