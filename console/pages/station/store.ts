/** The run stays in this tab, for the person who is signed in. */
import type { StoredRun } from './results.ts';

/** The run of a person in a tab. */
export interface RunStore {
  read(): StoredRun | null;
  write(run: StoredRun): void;
}

const STORED = 'devmgr.bench';

/** Keeps the run in sessionStorage. What another person has left there is not read. */
export function tabStore(userId: string): RunStore {
  return {
    read() {
      try {
        const stored = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as { user: string; run: StoredRun } | null;
        return stored?.user === userId ? stored.run : null;
      } catch {
        return null;
      }
    },
    write(run) {
      try {
        sessionStorage.setItem(STORED, JSON.stringify({ user: userId, run }));
      } catch {
        // The run is too large for the storage of a tab: it continues, and a reload starts over.
        sessionStorage.removeItem(STORED);
      }
    },
  };
}
