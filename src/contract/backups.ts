import { type Static, Type } from 'typebox';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import { deviceId, note, version } from './device-fields.ts';
import { maybe, nullable, shown, timestamp, token, whole } from './fields.ts';
import { backupIds } from './ids.ts';
import { sizes } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { changers, roles } from './values.ts';

const deviceParam = token({ description: 'device id', examples: ['DEV-1'] });
const params = Type.Object({ deviceId: deviceParam });
const backupParams = Type.Object({
  deviceId: deviceParam,
  backupId: token({ description: 'backup id', examples: ['BKP-1'] }),
});

const record = {
  backupId: Type.String({ pattern: backupIds.pattern, examples: ['BKP-1'] }),
  deviceId,
  fileName: shown('name of the file'),
  fileSize: whole('bytes', { min: 1 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file in lower-case hex' }),
  note: nullable(shown('remark')),
  createdAt: timestamp('when it was uploaded'),
};
/** An uploaded backup of a device. */
export const backup = Type.Object(record);
/** An uploaded backup of a device. */
export type Backup = Static<typeof backup>;

/** Operations on backups. */
export const backupOperations = additions('Backups', {
  /** After a failure nothing is stored. Not idempotent. */
  createBackup: {
    summary: 'Upload an encrypted backup of an ACTIVE device',
    description: 'The service does not interpret the file.',
    access: changers,
    params,
    form: Type.Object({ note: maybe(note) }),
    file: { field: 'file', maxBytes: sizes.backup, description: 'the backup, at most 64 MiB' },
    data: Type.Object({ ...record, version }),
    errors: [Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated, Code.uploadFailed, 412],
  },

  /** A page past the end is empty. */
  listBackups: {
    summary: 'List the backups of a device',
    access: roles,
    params,
    query: Type.Object(pageQuery()),
    data: paged(backup),
    errors: [Code.deviceNotFound],
  },

  /** A file that is missing or damaged is refused with 3002. */
  downloadBackup: {
    summary: 'Download a backup',
    description: 'Supports Range and If-None-Match; the ETag is the SHA-256 of the file.',
    access: roles,
    params: backupParams,
    raw: { contentType: 'application/octet-stream', description: 'the file' },
    errors: [Code.deviceNotFound, Code.backupNotFound, Code.restoreFailed, 416],
  },

  /** Changes nothing but the journal: the file is not sent; see `downloadBackup`. */
  restoreBackup: {
    summary: 'Verify a backup and mark it as restored',
    description: 'Checks the digest of the stored file. Allowed for every device that is not DEACTIVATED.',
    access: changers,
    params: backupParams,
    data: Type.Object({ ...record, restoredAt: timestamp('when it was verified'), version }),
    errors: [Code.deviceNotFound, Code.deviceDeactivated, Code.backupNotFound, Code.restoreFailed, 412],
  },
});
