/** A credential from its beginning to its acceptance, and what the journal proves of it. */
import { beginAgain, beginCredential, issued, noteStep } from '../../../daemon/issuing/credential.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addDevice, commit } from './fixtures.ts';

const fields = { device: 1, provider: 1, account: 'ada', label: 'devmgr 1', begun: null };

/** The first is begun, begun again for another person, and issued; the second is begun; the third is given up. */
export async function issueCredentials(store: Store): Promise<void> {
  await commit(store, [addDevice('S-1'), addDevice('S-2')]);
  const credential = async (number: number) => (await store.credential(number))!;
  await commit(store, [beginCredential(fields, null)]);
  await commit(store, [beginAgain(await credential(1), { account: 'bob', label: 'devmgr 2', begun: null }, null)]);
  await commit(store, [noteStep(await credential(1), { credentialId: 'AAAA' })]);
  await commit(store, [issued(await credential(1), 'R-1', 2_000)]);
  await commit(store, [beginCredential({ ...fields, provider: 2 }, null)]);
  await commit(store, [beginCredential({ ...fields, provider: 3 }, null)]);
  await commit(store, [noteStep(await credential(3), { credentialId: 'BBBB', uncertainAt: 3_000 })]);
}

/** Changes by a person who can write the database: by the number of the credential. */
export const credentialFrauds = [
  [1, "account = 'eve'"],
  [1, 'device = 2'],
  [1, "credential_id = 'CCCC'"],
  [1, "remote_id = 'R-2'"],
  [1, "label = 'devmgr 3'"],
  [1, "account = 'eve', salt = NULL"],
  [1, "account = 'eve', issued_at = NULL"],
  [2, "account = 'eve'"],
  [3, 'device = 2'],
] as const;
