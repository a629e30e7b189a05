/** Replaces the key that signs tokens, or the key of the journal. */
import type { ProgramIo, RotateKeyOptions } from '../../src/contract/programs.ts';
import { signingKeyRotated } from '../domain/journal.ts';
import type { Home } from '../home/home.ts';
import { prepareNextKey } from '../home/journal-keys.ts';
import { lockHome, runningPid } from '../home/lock.ts';
import { rotateJournalKey } from '../home/rotate-journal-key.ts';
import { rotateSigningKey } from '../home/signing-keys.ts';
import { print, reporting } from '../program-io.ts';
import { existingHome } from './maintenance.ts';
import { writeRegistry } from './write-registry.ts';

/**
 * Creates a new key, which a running daemon uses at once. Tokens issued so far stay valid until they expire; with `revokeNow` they
 * are invalid at once. The earlier keys of the journal are kept for its verification.
 */
export function rotateKey(options: RotateKeyOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    // Without a daemon, nothing else may open the registry meanwhile; with one, the daemon writes the entry.
    const lock = await lockHome(home).catch(() => null);
    const pid = lock ? null : await runningPid(home);
    try {
      if (options.journal) await prepareNextKey(home);
      else await rotateSigningKey(home, Date.now(), { revokeNow: options.revokeNow ?? false });
      if (lock) await takeOver(home, options, io);
    } finally {
      await lock?.release();
    }
    if (pid !== null) process.kill(pid, 'SIGHUP');
    await print(io.stdout, options.json ? `${JSON.stringify({ daemon: pid })}\n` : textOf(options, pid));
    return 0;
  });
}

/** What a running daemon does at its reload. */
function takeOver(home: Home, options: RotateKeyOptions, io: ProgramIo): Promise<void> {
  const warn = (text: string) => void io.stderr.write(`devmgr: ${text}\n`);
  return writeRegistry(home, warn, async (store, heads) => {
    if (options.journal) {
      await rotateJournalKey({ home, store, heads, now: Date.now });
      return;
    }
    const change = signingKeyRotated(options.revokeNow ?? false);
    await store.commit({ at: Date.now(), actor: null, requestId: null, changes: [change] });
  });
}

function textOf({ journal, revokeNow }: RotateKeyOptions, pid: number | null): string {
  const user = pid === null ? 'no daemon is running' : `the daemon (process ${pid}) uses it now`;
  if (journal) return `new journal key; earlier keys are kept for verification; ${user}\n`;
  return `new signing key; ${revokeNow ? 'all earlier tokens are revoked; ' : ''}${user}\n`;
}
