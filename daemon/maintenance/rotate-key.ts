/** Replaces the key that signs tokens, or the key of the journal. */
import type { ProgramIo, RotateKeyOptions } from '../../src/contract/programs.ts';
import { poll } from '../../src/delivery/wait.ts';
import { enterSigningKey, rotateSigningKey, signingKeys } from '../accounts/signing-keys.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Home } from '../home/home.ts';
import { prepareNextKey } from '../home/journal-keys.ts';
import { lockHome, runningPid } from '../home/lock.ts';
import { rotateJournalKey } from '../home/rotate-journal-key.ts';
import { withSecrets } from '../home/secrets-lock.ts';
import { print, reporting } from '../start/program-io.ts';
import { type ExistingRegistry, existingRegistry } from './maintenance.ts';
import { writeRegistry } from './write-registry.ts';

/**
 * Creates a new key, which a running daemon uses at once. Tokens issued earlier stay valid until they expire; with `revokeNow` they
 * are invalid at once. The earlier keys of the journal are kept for its verification.
 */
export function rotateKey(options: RotateKeyOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const registry = await existingRegistry(options, io.env);
    const { home } = registry;
    // Without a daemon, nothing else may open the registry until the key is replaced; with one, the daemon writes the entry.
    const lock = await lockHome(home).catch(() => null);
    const pid = lock ? null : await runningPid(home);
    try {
      if (!options.journal) {
        await withSecrets(home, () => rotateSigningKey(home, Date.now(), { revokeNow: options.revokeNow ?? false }));
        if (lock) await enterSigningKeys(registry, io);
      } else if (lock) await replaceJournalKey(registry, io);
      else await withSecrets(home, () => prepareNextKey(home));
    } finally {
      await lock?.release();
    }
    if (pid !== null) await reloaded(home, pid, options);
    await print(io.stdout, options.json ? `${JSON.stringify({ daemon: pid })}\n` : textOf(options, pid));
    return 0;
  });
}

/** Milliseconds in which a daemon reads its keys again. */
const RELOAD_MS = 10_000;
const POLL_MS = 20;

/**
 * Makes a daemon read its keys; resolves when it uses the new one. It then replaces its local token, which was signed with an earlier
 * key; the key of the journal has been replaced when none is waiting any more.
 */
async function reloaded(home: Home, pid: number, { journal }: RotateKeyOptions): Promise<void> {
  const before = await home.readSecret('localToken');
  const isDone = async () =>
    journal ? !(await home.has('journalKeyNext')) : (await home.readSecret('localToken')) !== before;
  process.kill(pid, 'SIGHUP');
  if (await poll(async () => (await isDone()) || null, { everyMs: POLL_MS, forMs: RELOAD_MS })) return;
  throw new StartRefused(
    1,
    `the new key is stored, but the daemon (process ${pid}) has not confirmed that it uses it`,
    'see why: devmgr daemon logs; a restart of the daemon reads the key as well',
  );
}

const warner = (io: ProgramIo) => (text: string) => void io.stderr.write(`devmgr: ${text}\n`);

/** Makes the key once the store is open: the next start of a daemon would use one that waits because the store could not be opened. */
const replaceJournalKey = (registry: ExistingRegistry, io: ProgramIo): Promise<void> =>
  writeRegistry(registry, warner(io), async (store, heads) => {
    await withSecrets(registry.home, () => prepareNextKey(registry.home));
    await rotateJournalKey({ home: registry.home, store, heads, now: Date.now, takeNext: true });
  });

/** Reload of the keys by a running daemon. */
const enterSigningKeys = (registry: ExistingRegistry, io: ProgramIo): Promise<void> =>
  writeRegistry(registry, warner(io), async store => {
    const now = Date.now();
    await enterSigningKey(registry.home, store, await signingKeys(registry.home, now), now);
  });

function textOf({ journal, revokeNow }: RotateKeyOptions, pid: number | null): string {
  const user = pid === null ? 'no daemon is running' : `the daemon (process ${pid}) uses it now`;
  if (journal) return `new journal key; earlier keys are kept for verification; ${user}\n`;
  return `new signing key; ${revokeNow ? 'all earlier tokens are revoked; ' : ''}${user}\n`;
}
