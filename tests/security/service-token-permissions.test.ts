/** The work of a service token is found when it is revoked: a thief of one does not stay. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register } from '../support/fleet.ts';
import { serviceToken } from '../support/service-token.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
});
afterAll(() => daemon?.stop());

const webhook = async (token: string, url: string): Promise<string> =>
  data(await daemon.call('POST', '/api/webhooks', { url }, { token })).webhookId;
const revoke = async (tokenId: string) => data(await daemon.call('POST', `/api/tokens/${tokenId}/revoke`));
const remove = async (webhookId: string) => data(await daemon.call('POST', `/api/webhooks/${webhookId}/remove`));
const maker = (name: string) => serviceToken(daemon, { name, role: 'ADMIN', may: ['webhooks'] });
afterEach(async () => {
  for (const { webhookId } of data(await daemon.call('GET', '/api/webhooks/list')).list) await remove(webhookId);
});

describe('a stolen token of an ADMIN', () => {
  it('that was created for nothing else makes no webhook and changes no policy', async () => {
    const { token, tokenId } = await serviceToken(daemon, { role: 'ADMIN' });
    const { url } = await startReceiver();
    const policy = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] };
    for (const [method, path, body] of [
      ['POST', '/api/webhooks', { url }],
      ['GET', '/api/webhooks/list', undefined],
      ['PUT', '/api/policies/proof', policy],
      ['GET', '/api/policies/proof', undefined],
    ] as const)
      expect(await daemon.call(method, path, body, { token })).toMatchObject({ status: 403, code: 2007 });
    expect(data(await daemon.call('GET', '/api/webhooks/list')).list).toEqual([]);
    expect(await revoke(tokenId)).toMatchObject({ made: { webhooks: [] } });
  });

  it('that may make webhooks leaves them behind: revocation names them until they are removed', async () => {
    const thief = await maker('thief');
    const { url, arrived, posts } = await startReceiver();
    const made = [await webhook(thief.token, url), await webhook(thief.token, url)];
    await webhook(daemon.adminToken, url);
    expect(await revoke(thief.tokenId)).toMatchObject({ tokenId: thief.tokenId, made: { webhooks: made } });
    await register(daemon);
    await arrived(3);
    expect(posts).toHaveLength(3);
    await remove(made[0]!);
    // A token that is revoked already is answered in the same way.
    expect((await revoke(thief.tokenId)).made).toEqual({ webhooks: [made[1]] });
    await remove(made[1]!);
    expect((await revoke(thief.tokenId)).made).toEqual({ webhooks: [] });
  });

  it('is not confused with a later token of the same name', async () => {
    const { url } = await startReceiver();
    const first = await maker('line-9');
    const old = await webhook(first.token, url);
    await revoke(first.tokenId);
    const second = await maker('line-9');
    const made = await webhook(second.token, url);
    await daemon.restart();
    expect((await revoke(second.tokenId)).made).toEqual({ webhooks: [made] });
    expect((await revoke(first.tokenId)).made).toEqual({ webhooks: [old] });
  });
});
