/** Two daemons in this process with one registry in PostgreSQL and the same keys, as two machines would have them. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DaemonSettings } from '../../daemon/home/settings.ts';
import { homeFiles } from '../../src/contract/local.ts';
import { startTestDaemon, type TestDaemon } from './daemon.ts';
import type { PostgresServer } from './postgres.ts';

export interface TwoDaemons {
  readonly one: TestDaemon;
  readonly two: TestDaemon;
  /** Name of the database that they share. */
  readonly database: string;
  stop(): Promise<void>;
}

export async function startTwoDaemons(
  server: PostgresServer,
  settings: Partial<DaemonSettings> = {},
): Promise<TwoDaemons> {
  const database = await server.database();
  const store = { url: server.url(database), env: {} };
  const one = await startTestDaemon({ ...settings, store });
  const home = await mkdtemp(join(tmpdir(), 'devmgr-test-'));
  for (const key of ['signingKey', 'journalKey', 'instanceKey'] as const)
    await copyFile(join(one.home, homeFiles[key]), join(home, homeFiles[key]));
  const two = await startTestDaemon({ ...settings, store, home });
  return {
    one,
    two,
    database,
    async stop() {
      await Promise.all([one.stop(), two.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Sends each request to the daemon whose turn it is. */
export function inTurns({ one, two }: TwoDaemons): TestDaemon {
  let calls = 0;
  return { ...one, call: (...args) => (calls++ % 2 ? two : one).call(...args) };
}
