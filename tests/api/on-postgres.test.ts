/**
 * Tests of the interface with the registry in PostgreSQL. Others run there as well with DEVMGR_TEST_STORE=postgres, except those that
 * look into the SQLite file.
 */
import { describe } from 'vitest';
import { hasPostgres, needsPostgres } from '../support/postgres.ts';
import { usePostgres } from '../support/test-store.ts';

const suites = {
  roles: () => import('./roles.test.ts'),
  'codes of devices': () => import('./codes-devices.test.ts'),
  'codes of files': () => import('./codes-files.test.ts'),
  'codes of logins': () => import('./codes-login.test.ts'),
  'codes of parameters': () => import('./codes-parameters.test.ts'),
  'versions of devices': () => import('./if-match.test.ts'),
  'idempotency keys': () => import('./idempotency.test.ts'),
  states: () => import('./states.test.ts'),
  lists: () => import('./lists.test.ts'),
  events: () => import('./events.test.ts'),
  export: () => import('./device-export.test.ts'),
  'order of notifications': () => import('./notifications-order.test.ts'),
  model: () => import('./model.test.ts'),
  'statistics, with a clock that moves': () => import('./statistics.test.ts'),
  'texts with U+0000': () => import('./null-text.test.ts'),
  directory: () => import('./directory.test.ts'),
  'bounds of files': () => import('./file-bounds.test.ts'),
  'batch registration of bound devices': () => import('./batch-bound.test.ts'),
  identity: () => import('./identity.test.ts'),
  decisions: () => import('./decisions.test.ts'),
  holders: () => import('./holders.test.ts'),
  'persons and erasure': () => import('./people-erasure.test.ts'),
  'batches that are taken back': () => import('./people-undo.test.ts'),
  receipts: () => import('./receipts.test.ts'),
};

if (hasPostgres()) {
  usePostgres();
  // Each in a describe of its own: a daemon that one starts before each of its tests is not started for those of the others.
  for (const [name, load] of Object.entries(suites))
    describe(name, async () => {
      await load();
    });
} else needsPostgres('the interface with the registry in PostgreSQL', () => {});
