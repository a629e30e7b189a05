import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Change } from '../../daemon/store/commit.ts';
import { GroupCommit } from '../../daemon/store/sqlite/group.ts';
import { Journal } from '../../daemon/store/sqlite/journal.ts';
import { openWriter } from '../../daemon/store/sqlite/open.ts';
import { Statements } from '../../daemon/store/sqlite/statements.ts';
import { Writer } from '../../daemon/store/sqlite/writer.ts';
import { journalKey } from '../support/sqlite.ts';
import { addDevice } from './store/fixtures.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'devmgr-group-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('after a rollback with a failed reload, the next commit reads the state of the database', async () => {
  const db = await openWriter({ file: join(folder, 'devmgr.db') });
  const statements = new Statements(db);
  let failing = false;
  class Failing extends Writer {
    override reload(): string | null {
      if (!failing) return super.reload();
      failing = false;
      throw new Error('disk I/O error');
    }
  }
  const writer = new Failing(statements, new Journal(statements, [journalKey]));
  writer.reload();
  const notified: number[] = [];
  const group = new GroupCommit(db, writer, ({ deltas, lastEventId }) => notified.push(deltas.length, lastEventId));
  const add = (changes: readonly Change[]) => group.add({ at: 1, actor: null, requestId: null, changes });

  failing = true;
  const broken = addDevice('B') as Extract<Change, { kind: 'device.add' }>;
  const impossible = { ...broken, device: { ...broken.device, deviceType: null as never } };
  await expect(add([addDevice('A'), impossible])).rejects.toThrow(/nothing was written/);
  expect(await add([addDevice('C')])).toEqual([{ kind: 'added', number: 1 }]);
  expect(notified).toEqual([1, 1]);
  expect(statements.value('SELECT sum(count) FROM device_count')).toBe(1);
  await group.close();
  db.close();
});
