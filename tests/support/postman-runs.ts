/** The runs of the Postman collection of a daemon, whatever sends them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rateLimits } from '../../src/contract/limits.ts';
import { routes } from '../../src/contract/routes.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from './daemon.ts';
import type { Collection, Run, RunOptions } from './postman.ts';

export type Sender = (collection: Collection, options: RunOptions) => Promise<Run>;

/** Defines the tests of a sender: each request of the collection passes, on a new daemon and again. */
export function describeRuns(name: string, send: Sender): void {
  describe(name, () => {
    let daemon: TestDaemon;
    let collection: Collection;
    let requests: number;
    beforeAll(async () => {
      // With the default limits: a run must stay within them.
      daemon = await startTestDaemon({ limits: rateLimits });
      collection = (await (await fetch(`${daemon.url}/api/postman.json`)).json()) as Collection;
      requests = collection.item.flatMap(folder => folder.item).length;
    });
    afterAll(() => daemon?.stop());

    it('passes on a new daemon and sends each request', async () => {
      expect(await send(collection, { environment: { password: adminPassword } })).toEqual({ failures: [], requests });
    });

    it('passes again with base_url and token as variables of an environment', async () => {
      // The windows of the first run would count.
      await daemon.restart();
      const environment = { password: adminPassword, base_url: daemon.url, token: '' };
      expect(await send(collection, { environment })).toEqual({ failures: [], requests });
    });

    it('sends the policy of the registry back as it is', async () => {
      await daemon.restart();
      const policy = {
        requiredGrade: 'none',
        allowedAaguids: [],
        leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }],
      };
      expect(await daemon.call('PUT', '/api/policies/proof', policy)).toMatchObject({ code: 200 });
      // The policy refuses registrations without a proof: the other requests would fail.
      const only = [routes.login, routes.showProofPolicy, routes.setProofPolicy].map(({ summary }) => summary);
      const environment = { base_url: daemon.url, password: adminPassword };
      expect(await send(collection, { environment, only })).toEqual({ failures: [], requests: 3 });
      expect((await daemon.call('GET', '/api/policies/proof')).data).toEqual(policy);
    });
  });
}
