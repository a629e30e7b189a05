/**
 * Tests of the interface with the registry in PostgreSQL. Others run there as well with DEVMGR_TEST_STORE=postgres, except those that
 * look into the SQLite file, or move the clock of the daemon away from that of the server.
 */
import { hasPostgres, needsPostgres } from '../support/postgres.ts';
import { usePostgres } from '../support/test-store.ts';

if (hasPostgres()) {
  usePostgres();
  await import('./states.test.ts');
  await import('./lists.test.ts');
  await import('./events.test.ts');
  await import('./device-export.test.ts');
  await import('./notifications-order.test.ts');
  await import('./model.test.ts');
  await import('./file-bounds.test.ts');
} else needsPostgres('the interface with the registry in PostgreSQL', () => {});
