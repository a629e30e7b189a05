import { expect } from 'vitest';
import { beginCredential, removed } from '../../../daemon/issuing/credential.ts';
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
];
