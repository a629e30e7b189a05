import type * as api from '../../src/contract/backups.ts';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { backupIds, deviceIds } from '../../src/contract/ids.ts';
import type { Data, Form, Query } from '../../src/contract/routes.ts';
import { cleanFileName } from '../base/file-name.ts';
import { iso } from '../base/time.ts';
import { refusalOf } from '../devices/decisions.ts';
import { holdVersion, readCurrent, readDevice } from '../devices/lookups.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { BlobError } from '../requests/blob-error.ts';
import type { StagedBlob, StoredBlob } from '../requests/blobs.ts';
import type { Download } from '../requests/content.ts';
import { accept, type Context, commitLast, retrying, Service, type ServiceParts, timeOf } from '../requests/context.ts';
import type { ChangeResult } from '../store/commit.ts';
import { readPage } from '../store/page.ts';
import { type BackupDecision, type BackupRecord, backUp, restore } from './backup.ts';
import { type ArrivingBody, type FileStore, keep, stage, type UploadedFile } from './stored-files.ts';

/** Dependencies of the service. */
interface BackupServiceParts extends FileStore, ServiceParts {}

/** File name of a backup if the client sent none. */
const UNNAMED = 'backup.bin';

/** The operations on the backups of a device. A refusal is thrown as an `ApiError`. */
export class BackupService extends Service<BackupServiceParts> {
  /** Stages an upload with `stage`. */
  stage(arriving: ArrivingBody): Promise<StagedBlob> {
    return stage(this.parts, arriving);
  }

  /** Refuses a device that does not exist (2001), has another version (412), or cannot be backed up in its state. */
  async judge(context: Context, deviceId: string): Promise<void> {
    accept(refusalOf('backUp', await readCurrent(this.store, context, deviceId)));
  }

  async create(
    context: Context,
    deviceId: string,
    form: Form<'createBackup'>,
    { fileName, blob }: UploadedFile,
  ): Promise<Data<'createBackup'>> {
    return keep(this.parts, blob, name =>
      retrying(async () => {
        const device = await readCurrent(this.store, context, deviceId);
        const file = {
          fileName: cleanFileName(fileName) || UNNAMED,
          fileSize: blob.size,
          sha256: blob.sha256,
          note: form.note ?? null,
          blob: name,
        };
        const at = this.now();
        return this.#commit(context, at, accept(backUp(device, file)), ([result]) => {
          if (result?.kind !== 'added') throw new Error('the store has not added the backup');
          const { number, version = device.version } = result;
          return { ...toBackup({ ...file, device: device.number, number, createdAt: timeOf(result, at) }), version };
        });
      }),
    );
  }

  async list(deviceId: string, query: Query<'listBackups'>): Promise<Data<'listBackups'>> {
    const { number } = await this.#device(deviceId);
    return readPage(query, window => this.store.backups(number, window), toBackup);
  }

  /** The digest of the file has been checked. The caller closes the file. */
  async download(deviceId: string, backupId: string): Promise<Download> {
    const backup = await this.#backup(await this.#device(deviceId), backupId);
    return { blob: await this.#verified(backup), sha256: backup.sha256, fileName: backup.fileName };
  }

  async restore(context: Context, deviceId: string, backupId: string): Promise<Data<'restoreBackup'>> {
    return retrying(async () => {
      const device = await readCurrent(this.store, context, deviceId);
      const backup = await this.#backup(device, backupId);
      const decision = accept(restore(device, backup));
      await (await this.#verified(backup)).close();
      const at = this.now();
      return this.#commit(context, at, decision, () => ({
        ...toBackup(backup),
        restoredAt: iso(at),
        version: device.version,
      }));
    });
  }

  #device(deviceId: string): Promise<DeviceRecord> {
    return readDevice(this.store, deviceId);
  }

  /** Refuses a backup of another device like one that does not exist: 3001. */
  async #backup(device: DeviceRecord, backupId: string): Promise<BackupRecord> {
    const number = backupIds.parse(backupId);
    const backup = number === null ? null : await this.store.backup(number);
    if (backup?.device !== device.number)
      throw new ApiError(Code.backupNotFound, `${deviceIds.format(device.number)} has no such backup`);
    return backup;
  }

  /** Refuses a file that is missing or damaged: 3002. */
  async #verified({ blob, number, fileSize, sha256 }: BackupRecord): Promise<StoredBlob> {
    try {
      return await this.parts.blobs.read(blob, fileSize, sha256);
    } catch (error) {
      if (!(error instanceof BlobError)) throw error;
      const how = error.problem === 'missing' ? 'is missing' : 'is damaged';
      throw new ApiError(Code.restoreFailed, `the file of ${backupIds.format(number)} ${how}`);
    }
  }

  #commit<D>(
    context: Context,
    at: number,
    { change, guards }: BackupDecision,
    data: (results: readonly ChangeResult[]) => D,
  ): Promise<D> {
    return commitLast(this.store, context, { at, changes: [change], guards: holdVersion(context, guards) }, data);
  }
}

function toBackup(backup: Omit<BackupRecord, 'blob'>): api.Backup {
  return {
    backupId: backupIds.format(backup.number),
    deviceId: deviceIds.format(backup.device),
    fileName: backup.fileName,
    fileSize: backup.fileSize,
    sha256: backup.sha256,
    note: backup.note,
    createdAt: iso(backup.createdAt),
  };
}
