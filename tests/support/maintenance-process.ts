/** Maintenance programs as processes that are killed at a chosen moment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { vi } from 'vitest';
import type { MaintenanceName } from './maintenance-main.ts';
import type { PostgresServer } from './postgres.ts';
import { programFile } from './test-programs.ts';

/** The command line of a program that runs with these options. */
export const maintenanceCommand = (name: MaintenanceName, options: object): readonly string[] => [
  process.execPath,
  programFile('maintenance-main'),
  name,
  JSON.stringify({ json: true, ...options }),
];

/** Which program is killed, and when. */
export interface KillOptions {
  readonly server: PostgresServer;
  readonly database: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The lock that stops the program, in the words of LOCK TABLE. */
  readonly lock: string;
  /** The statement that then waits, as a pattern of LIKE. */
  readonly statement: string;
  /** Runs while the program waits. */
  readonly duringWait?: () => Promise<void>;
}

/** Starts a program, waits until a statement of it waits for the lock, and kills it. Resolves when the lock is free again. */
export async function killWhileItWaits(options: KillOptions): Promise<void> {
  const { server, database, command, env, lock, statement, duringWait } = options;
  const blocker = await server.connect(database);
  await blocker.query(`BEGIN; LOCK TABLE ${lock}`);
  const [program, ...args] = command;
  const child = spawn(program!, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  const early = ended.then(() => {
    throw new Error('the program has ended');
  });
  // PostgreSQL shows which statement waits, but sends no event. Not in the transaction, which would see the same state each time.
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = '${database}' AND wait_event_type = 'Lock' AND query LIKE '${statement}'`;
  const waits = vi.waitFor(
    async () => {
      if ((await server.query(waiting)).length === 0) throw new Error(`no statement like ${statement} waits`);
    },
    { timeout: 60_000, interval: 20 },
  );
  await Promise.race([waits, early]);
  await duringWait?.();
  child.kill('SIGKILL');
  await ended;
  await blocker.query('ROLLBACK');
  await blocker.end();
}
