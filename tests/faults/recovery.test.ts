/** A PostgreSQL server that was taken back to an earlier state, and the steps of docs/postgresql.md to continue with it. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { backup, check } from '../../daemon/maintenance/programs.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { registration } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary.ts';

needsPostgres('a server that was taken back', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it.each([
    ['in the home', false],
    ['in a folder of their own', true],
  ])(
    'is refused until the signed heads are moved away; then the registry continues: secrets %s',
    async (_, isApart) => {
      const home = temporaryFolder();
      const secrets = isApart ? temporaryFolder() : null;
      const database = await server.database();
      const start = (of: PostgresServer) => spawnDaemon({ home, secrets, store: of.url(database) });
      const register = async (daemon: Awaited<ReturnType<typeof start>>) =>
        expect(await daemon.call('POST', '/api/devices/register', registration())).toMatchObject({ code: 200 });
      const first = await start(server);
      await register(first);
      const earlier = await server.copy();
      onTestFinished(() => earlier.stop());
      await register(first);
      await register(first);
      await first.stop();

      const env = { DEVMGR_STORE: earlier.url(database), ...(secrets ? { DEVMGR_SECRETS: secrets } : {}) };
      const checked = () => runDaemonProgram(check, { home, json: false }, env);
      await expect(start(earlier)).rejects.toThrow(/ended with 9 .*is an earlier state of the registry/s);
      const file = join(home, 'saved');
      expect(await runDaemonProgram(backup, { home, json: false, file }, env)).toMatchObject({ code: 9 });
      expect(await checked()).toMatchObject({ code: 1, stdout: expect.stringMatching(/entries were removed/) });

      const heads = join(secrets ?? home, 'journal-heads');
      renameSync(heads, `${heads}-before-recovery`);
      const second = await start(earlier);
      await register(second);
      expect(await checked()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK: 2 devices/) });
      await second.stop();
      expect(existsSync(heads)).toBe(true);
      await (await start(earlier)).stop();
      expect(await checked()).toMatchObject({ code: 0 });
      expect(await runDaemonProgram(backup, { home, json: false, file }, env)).toMatchObject({ code: 0 });
    },
  );
});
