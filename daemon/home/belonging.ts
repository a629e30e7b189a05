/** Whether the secrets of a home are those of a registry. */
import type { Imprint } from '../store/imprint.ts';
import { isSealed } from '../store/key-ring.ts';
import type { Home } from './home.ts';
import { Instance } from './instance.ts';
import { allKeys, journalKeys } from './journal-keys.ts';
import { StartRefused } from './settings.ts';

/**
 * Refuses with `StartRefused` a registry that has other secrets than the home, or whose copy is not complete; then nothing was created.
 * `imprint`: null if there is no registry yet.
 */
export async function checkBelonging(home: Home, imprint: Imprint | null): Promise<void> {
  if (imprint === null) return;
  checkComplete(imprint);
  await checkSecrets(home, imprint);
}

/** Refuses with `StartRefused` a registry that has other secrets than the home. */
export async function checkSecrets(home: Home, { name, head, instance }: Imprint): Promise<void> {
  const keys = (await home.has('journalKey')) ? allKeys(await journalKeys(home)) : [];
  if (head !== null && (keys.length === 0 || !isSealed(keys, head)))
    throw new StartRefused(
      2,
      `the journal of ${name} is sealed with a key that this home does not have, or was changed`,
      `use the secrets of this registry: journal-key and journal-keys-earlier in ${home.secretsDir}`,
    );
  if (instance !== null && (await Instance.existing(home))?.id !== instance)
    throw new StartRefused(
      2,
      `${name} is known to its clients by another instance-key than the one in ${home.secretsDir}`,
      'use the secrets of this registry: --secrets or DEVMGR_SECRETS names their folder',
    );
}

/** Refuses a registry that `daemon copy` has not completed and verified. */
export function checkComplete({ name, copying }: Imprint): void {
  if (copying !== null)
    throw new StartRefused(
      2,
      `${name} is an unfinished copy of a registry`,
      'run the same "devmgr daemon copy" again: it continues, and verifies the copy',
    );
}
