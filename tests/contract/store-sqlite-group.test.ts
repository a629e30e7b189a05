import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { devices } from '../../daemon/devices/tables.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import type { Change } from '../../daemon/store/commit.ts';
import { SqliteEngine } from '../../daemon/store/sqlite/engine.ts';
import { openWriter } from '../../daemon/store/sqlite/open.ts';
import { Statements } from '../../daemon/store/sqlite/statements.ts';
import { GroupCommit } from '../../daemon/store/write/group.ts';
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
  class Failing extends SqliteEngine {
    override reload(): string | null {
      if (!failing) return super.reload();
      failing = false;
      throw new Error('disk I/O error');
    }
  }
  const notified: number[] = [];
  const engine = new Failing(subjects, statements, [journalKey], draft =>
    notified.push(draft.of(devices).added.length, draft.lastEventId),
  );
  engine.reload();
  const group = new GroupCommit(subjects, engine);
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
