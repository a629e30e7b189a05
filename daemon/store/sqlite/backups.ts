/** The table of backups: its columns, reads and writes. */
import type { BackupChange, BackupRecord } from '../../domain/backup.ts';
import { Conflict } from '../commit.ts';
import { requireDevice } from './devices.ts';
import type { Statements } from './statements.ts';
import { columnsOf, pageOf, type Reads } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

const fields: Record<keyof BackupRecord, 0> = {
  number: 0,
  device: 0,
  fileName: 0,
  fileSize: 0,
  sha256: 0,
  note: 0,
  createdAt: 0,
  blob: 0,
};
const backups = {
  table: 'backup',
  columns: columnsOf(fields),
  toRecord: (columns: BackupRecord): BackupRecord => columns,
};

/** The reads of backups. */
export function backupReads(statements: Statements): Pick<Reads, 'backup' | 'backups'> {
  return {
    backup: number =>
      statements.get<BackupRecord>(`SELECT ${backups.columns} FROM backup WHERE number = ?`, number) ?? null,
    backups: (device, window) => pageOf(statements, backups, window, { column: 'device', value: device }),
  };
}

const add: Apply<'backup.add'> = ({ backup, entry }, context, writing) => {
  const number = writing.last.backup + 1;
  writing.statements.run(
    `INSERT INTO backup (number, device, file_name, file_size, sha256, note, created_at, blob)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    number,
    backup.device,
    backup.fileName,
    backup.fileSize,
    backup.sha256,
    backup.note,
    context.at,
    backup.blob,
  );
  writing.statements.run(
    'UPDATE device SET backup_count = backup_count + 1, last_backup_at = ? WHERE number = ?',
    context.at,
    backup.device,
  );
  writing.last.backup = number;
  writing.journal.append(context, entry, backup.device, number);
  return { kind: 'added', number };
};

/** How changes that concern backups are written. */
export const backupWrites: Writes<BackupChange['kind']> = {
  'backup.add': { check: ({ backup }, statements) => requireDevice(statements, backup.device), apply: add },
  'backup.restore': {
    check({ device, backup }, statements) {
      if (statements.value('SELECT device FROM backup WHERE number = ?', backup) !== device)
        throw new Conflict(`device ${device} has no backup ${backup}`);
    },
    apply({ device, backup, entry }, context, { journal }) {
      journal.append(context, entry, device, backup);
      return { kind: 'done' };
    },
  },
};
