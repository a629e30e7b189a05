import type { Readable } from 'node:stream';
import type * as api from '../../src/contract/backups.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { DataOf, FormOf, QueryOf } from '../../src/contract/define.ts';
import { backupIds, deviceIds } from '../../src/contract/ids.ts';
import { paging } from '../../src/contract/limits.ts';
import { toPage } from '../../src/contract/paging.ts';
import { BlobError } from '../blobs/blob-error.ts';
import type { Blobs, StagedBlob } from '../blobs/blobs.ts';
import type { KeptBlob } from '../blobs/stored-blob.ts';
import * as domain from '../domain/device.ts';
import { cleanFileName } from '../domain/file-name.ts';
import type { BackupRecord, Change, DeviceRecord, Outcome, Store } from '../store/store.ts';
import { actorOf, type Context, retrying } from './context.ts';
import * as present from './present.ts';
import { type Download, keep, stage, type Uploaded } from './stored-files.ts';

export interface BackupServiceParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
}

/** Name of a backup whose client gave none. */
const UNNAMED = 'backup.bin';

/** The operations on the backups of a device. Refusals are `ApiError`s. */
export class BackupService {
  readonly #store: Store;
  readonly #blobs: Blobs;
  readonly #now: () => number;

  constructor(parts: BackupServiceParts) {
    this.#store = parts.store;
    this.#blobs = parts.blobs;
    this.#now = parts.now;
  }

  stage(content: Readable, maxBytes: number, expected: number): Promise<StagedBlob> {
    return stage(this.#blobs, content, maxBytes, expected);
  }

  /** Refuses a device that is not there (2001) or may not be backed up now. */
  async judge(deviceId: string): Promise<void> {
    domain.allow('backUp', await this.#device(deviceId));
  }

  async create(
    context: Context,
    deviceId: string,
    form: FormOf<typeof api.createBackup>,
    { fileName, blob }: Uploaded,
  ): Promise<api.Backup> {
    return keep(this.#blobs, blob, name =>
      retrying(async () => {
        const device = await this.#device(deviceId);
        domain.allow('backUp', device);
        const at = this.#now();
        const backup = {
          device: device.number,
          fileName: cleanFileName(fileName) || UNNAMED,
          fileSize: blob.size,
          sha256: blob.sha256,
          note: form.note ?? null,
          blob: name,
        };
        const { device: _, blob: __, ...detail } = backup;
        const entry = { type: 'BACKUP_CREATED', detail } as const;
        const outcome = await this.#commit(context, at, 'backUp', device, { kind: 'backup.add', backup, entry });
        if (outcome?.kind !== 'added') throw new Error('the store has not added the backup');
        return record({ ...backup, number: outcome.number, createdAt: at });
      }),
    );
  }

  async list(deviceId: string, query: QueryOf<typeof api.listBackups>): Promise<DataOf<typeof api.listBackups>> {
    const { page = paging.page, size = paging.size } = query;
    const device = await this.#device(deviceId);
    const { rows, total } = await this.#store.backups(device.number, {
      descending: query.sortOrder !== 'asc',
      offset: (page - 1) * size,
      limit: size,
    });
    return toPage(rows.map(record), total, page, size) as DataOf<typeof api.listBackups>;
  }

  /** Of a file whose digest has been checked. The caller closes it. */
  async download(deviceId: string, backupId: string): Promise<Download> {
    const backup = await this.#backup(await this.#device(deviceId), backupId);
    return { blob: await this.#verified(backup), sha256: backup.sha256, fileName: backup.fileName };
  }

  async restore(context: Context, deviceId: string, backupId: string): Promise<DataOf<typeof api.restoreBackup>> {
    return retrying(async () => {
      const device = await this.#device(deviceId);
      const backup = await this.#backup(device, backupId);
      domain.allow('restore', device);
      await (await this.#verified(backup)).close();
      const at = this.#now();
      await this.#commit(context, at, 'restore', device, {
        kind: 'backup.restore',
        device: device.number,
        backup: backup.number,
        entry: { type: 'BACKUP_RESTORED', detail: { sha256: backup.sha256 } },
      });
      return { ...record(backup), restoredAt: present.iso(at) };
    });
  }

  async #device(deviceId: string): Promise<DeviceRecord> {
    const number = deviceIds.parse(deviceId);
    const device = number === null ? null : await this.#store.device(number);
    if (!device) throw new ApiError(2001, 'device does not exist');
    return device;
  }

  /** One of another device is none of this one. */
  async #backup(device: DeviceRecord, backupId: string): Promise<BackupRecord> {
    const number = backupIds.parse(backupId);
    const backup = number === null ? null : await this.#store.backup(number);
    if (backup?.device !== device.number)
      throw new ApiError(3001, `${deviceIds.format(device.number)} has no such backup`);
    return backup;
  }

  async #verified({ blob, number, fileSize, sha256 }: BackupRecord): Promise<KeptBlob> {
    try {
      const kept = await this.#blobs.read(blob, fileSize);
      await kept.verify(sha256).catch(async error => {
        await kept.close();
        throw error;
      });
      return kept;
    } catch (error) {
      if (!(error instanceof BlobError)) throw error;
      const how = error.problem === 'missing' ? 'is missing' : 'is damaged';
      throw new ApiError(3002, `the file of ${backupIds.format(number)} ${how}`);
    }
  }

  async #commit(
    context: Context,
    at: number,
    operation: domain.DeviceOperation,
    device: DeviceRecord,
    change: Change,
  ): Promise<Outcome | undefined> {
    const [outcome] = await this.#store.commit({
      at,
      actor: actorOf(context),
      requestId: context.requestId,
      changes: [change],
      guards: [{ kind: 'device', device: device.number, status: domain.sources(operation) }],
    });
    return outcome;
  }
}

function record(backup: Omit<BackupRecord, 'blob'>): api.Backup {
  return {
    backupId: backupIds.format(backup.number),
    deviceId: deviceIds.format(backup.device),
    fileName: backup.fileName,
    fileSize: backup.fileSize,
    sha256: backup.sha256,
    note: backup.note,
    createdAt: present.iso(backup.createdAt),
  };
}
