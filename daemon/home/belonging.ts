/** Whether the secrets of a home are those of a registry. */
import { StartRefused } from '../base/start-refused.ts';
import type { Imprint } from '../store/imprint.ts';
import { isSealed } from '../store/key-ring.ts';
import { readHeads } from './head-file.ts';
import type { Home } from './home.ts';
import { Instance } from './instance.ts';
import { allKeys, journalKeys } from './journal-keys.ts';

/**
 * Refuses with `StartRefused` a registry that has other secrets than the home, or whose copy is not complete; then nothing was created.
 * `imprint`: null if there is no registry yet.
 */
export async function checkBelonging(home: Home, imprint: Imprint | null): Promise<void> {
  if (imprint === null) return;
  checkComplete(imprint);
  await checkSecrets(home, imprint);
}

/**
 * Reads the row of a database. Refuses it with `StartRefused` as `checkBelonging` does, and also if it ends before the last
 * journal entry that the home has signed: the server has an earlier state, and what was acknowledged since then would be lost.
 */
export async function presentImprint(home: Home, read: () => Promise<Imprint | null>): Promise<Imprint | null> {
  // First: another daemon adds to the journal, then to the heads.
  const signed = await lastSigned(home);
  const imprint = await read();
  await checkBelonging(home, imprint);
  if (imprint?.head && imprint.head.id < signed)
    throw new StartRefused(
      9,
      `${imprint.name} ends at journal entry ${imprint.head.id}, and entry ${signed} was signed: it is an earlier state of the registry`,
      `name the server that has it; to continue with the earlier state, move ${home.path('journalHeads')} away`,
    );
  return imprint;
}

/**
 * Refuses with `StartRefused` to create a registry in the database `name` with secrets that know one: it would be taken for that one. They
 * know it since the first entry of its journal was signed.
 */
export async function checkUnused(home: Home, name: string): Promise<void> {
  if (!(await home.readSecret('journalHeads'))) return;
  const id = (await Instance.existing(home))?.id;
  throw new StartRefused(
    2,
    `the database ${name} is empty, but these secrets belong to ${id === undefined ? 'a registry' : `the registry ${id}`}`,
    `name the database of that registry, or restore a backup: devmgr daemon restore FILE. To create another registry with keys of its own: devmgr daemon init --new-registry`,
  );
}

/** Id of the last entry that the home has signed; 0 if it has signed none. */
async function lastSigned(home: Home): Promise<number> {
  if (!(await home.has('journalKey'))) return 0;
  const { anchors } = await readHeads(home, await journalKeys(home));
  return Math.max(0, ...anchors.heads.map(({ id }) => id));
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
      `the clients of ${name} know another instance-key than the one in ${home.secretsDir}`,
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
