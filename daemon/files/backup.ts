/** A backup of a device: the record and its changes. Decisions only, no I/O. */
import type { Decision, Refusal } from '../base/decision.ts';
import { guardOf, refusalOf } from '../devices/decisions.ts';
import type { DeviceGuard, DeviceRecord } from '../devices/records.ts';
import type { Entry } from '../store/journal.ts';

/** A backup as it is stored. */
export interface BackupRecord {
  /** The number in the id BKP-n: from 1, without gaps. */
  readonly number: number;
  /** Number of the device. */
  readonly device: number;
  readonly fileName: string;
  /** Bytes. */
  readonly fileSize: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly note: string | null;
  /** Milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  /** Name of the file among the stored blobs. */
  readonly blob: string;
}

/** Fields of a new backup. */
type NewBackup = Omit<BackupRecord, 'number' | 'createdAt'>;

/** Also raises the device's backupCount and sets its lastBackupAt. */
interface BackupAdd {
  readonly kind: 'backup.add';
  readonly backup: NewBackup;
  readonly entry: Entry;
}

/** Only writes the entry: the file goes to the client. */
interface BackupRestore {
  readonly kind: 'backup.restore';
  readonly device: number;
  readonly backup: number;
  readonly entry: Entry;
}

/** Every change that concerns a backup. */
export type BackupChange = BackupAdd | BackupRestore;
/** A change that concerns a backup, and its guards. */
export type BackupDecision = Decision<BackupChange, DeviceGuard>;

/** Adds a backup of the device, if its state allows that. */
export function backUp(device: DeviceRecord, file: Omit<NewBackup, 'device'>): BackupDecision | Refusal {
  // The name and the note are in the row alone, which an erasure can change.
  const { blob: _, fileName: _name, note: _note, ...detail } = file;
  const backup = { ...file, device: device.number };
  const change = { kind: 'backup.add', backup, entry: { type: 'BACKUP_CREATED', detail } } as const;
  return refusalOf('backUp', device) ?? { change, guards: [guardOf('backUp', device)] };
}

/** Records that a backup of the device was restored, if its state allows that. */
export function restore(device: DeviceRecord, { number, sha256 }: BackupRecord): BackupDecision | Refusal {
  const entry = { type: 'BACKUP_RESTORED', detail: { sha256 } } as const;
  const change = { kind: 'backup.restore', device: device.number, backup: number, entry } as const;
  return refusalOf('restore', device) ?? { change, guards: [guardOf('restore', device)] };
}
