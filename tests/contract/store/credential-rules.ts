import { expect } from 'vitest';
import { beginCredential, issued, noteStep, removed } from '../../../daemon/issuing/credential.ts';
import { Conflict } from '../../../daemon/store/commit.ts';
import { addDevice, commit, type Rule, rule } from './fixtures.ts';

const begin = beginCredential(
  {
    device: 1,
    provider: 1,
    account: 'ada',
    label: 'devmgr 1',
    begun: { challenge: 'Yw', origin: 'https://idp.example', rpId: 'idp.example', handle: null },
  },
  null,
);

/** Rules of credentials at providers. */
export const credentialRules: readonly Rule[] = [
  rule('a credential ends at the time of its entry, whatever time the change states', async ({ store }) => {
    await commit(store, [addDevice('S-1'), begin], { at: 1_000 });
    const credential = (await store.credential(1))!;
    await commit(store, [removed(credential, 4_990)], { at: 5_000 });
    expect(await store.credential(1)).toMatchObject({ removedAt: 5_000, version: 2 });
    expect((await store.events({ after: 0, limit: 10 })).at(-1)).toMatchObject({
      type: 'CREDENTIAL_REMOVED',
      at: 5_000,
    });
    await expect(commit(store, [removed(credential, 6_000)], { at: 6_000 })).rejects.toThrow(Conflict);
  }),

  rule(
    'a credential is found by its id while the provider accepts it; one id can be of two devices',
    async ({ store }) => {
      await commit(store, [addDevice('S-1'), addDevice('S-2')]);
      const found = async () =>
        (await store.issuedCredentials(['AAAA', 'CCCC'])).map(({ device }) => device).toSorted();
      for (const device of [1, 2]) {
        await commit(store, [beginCredential({ device, provider: 1, account: 'ada', label: 'l', begun: null }, null)]);
        const credential = async () => (await store.credential(device))!;
        await commit(store, [noteStep(await credential(), { credentialId: 'AAAA' })]);
        expect(await found()).toHaveLength(device - 1);
        await commit(store, [issued(await credential(), `R-${device}`, 2_000)]);
      }
      expect(await found()).toEqual([1, 2]);
      await commit(store, [removed((await store.credential(1))!, 3_000)]);
      expect(await store.issuedCredentials(['AAAA'])).toEqual([{ credentialId: 'AAAA', device: 2 }]);
    },
  ),
];
