/**
 * A run that has begun, in the session of the tab, so that it continues after a reload. Neither the file nor a result is stored:
 * the person chooses the file again, batches that were sent are sent again with the same keys, and the daemon repeats its
 * responses with the activation codes.
 */
import { newKey } from '../../api/request.ts';
import { storedIn } from '../../stored.ts';

interface StoredImport {
  /** Name, size and time of the file. */
  readonly file: string;
  /** How it is read, as JSON. */
  readonly settings: string;
  /** The idempotency keys begin with it. */
  readonly id: string;
  readonly sent: number;
}

const STORED = 'devmgr.import';

/** The run that was not finished; null if there is none. */
export const storedRun = (): StoredImport | null => storedIn('sessionStorage', STORED);

/** Stores how far a run is; null when it has ended. */
export const storeRun = (run: StoredImport | null): void =>
  run ? sessionStorage.setItem(STORED, JSON.stringify(run)) : sessionStorage.removeItem(STORED);

/** Identity of a file as long as it does not change. */
export const identityOf = ({ name, size, lastModified }: File): string => JSON.stringify([name, size, lastModified]);

/** The stored run of a file that is read in the same way, else a new one. */
export function runOf(file: File, settings: string): StoredImport {
  const stored = storedRun();
  const identity = identityOf(file);
  return stored?.file === identity && stored.settings === settings
    ? stored
    : { file: identity, settings, id: newKey(), sent: 0 };
}
