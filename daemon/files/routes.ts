import type { FastifyReply } from 'fastify';
import { deviceIds } from '../../src/contract/ids.ts';
import type { Bindings } from '../http/bindings.ts';
import { sendDownload } from '../http/download.ts';
import { type AccessJournal, accessOf } from '../requests/access-journal.ts';
import type { AppService } from './apps.ts';
import type { BackupService } from './backups.ts';

/** The services of files. */
interface FileServices {
  readonly apps: AppService;
  readonly backups: BackupService;
  readonly access: AccessJournal;
  /** Replaces `stallSeconds`. */
  readonly stallMs?: number;
}

/** Whether a download has content: the client may have the file already, or have asked for a part that does not exist. */
const isSent = ({ statusCode }: FastifyReply): boolean => statusCode === 200 || statusCode === 206;

/** Files: application versions, and backups of devices. */
export const fileOperations = (to: FileServices): Bindings => ({
  uploadAppVersion: {
    early: async (_, form, fileName) => void (await to.apps.judge(form, fileName)),
    stage: ({ context }, file) => to.apps.stage({ context, ...file }),
    add: ({ context }, { form, ...file }) => to.apps.upload(context, form, file),
  },
  listAppVersions: ({ query }) => to.apps.list(query),
  getLatestAppVersion: ({ query }) => to.apps.latest(query),
  getAppVersion: ({ params }) => to.apps.show(params.versionId),
  downloadAppVersion: {
    raw: async ({ context, params: { versionId }, request, reply }) => {
      const sent = await sendDownload(request, reply, await to.apps.download(versionId), to.stallMs);
      if (isSent(reply)) to.access.record({ type: 'PACKAGE_DOWNLOADED', ...accessOf(context), detail: { versionId } });
      return sent;
    },
  },
  createBackup: {
    early: ({ context, params }) => to.backups.judge(context, params.deviceId),
    stage: ({ context }, file) => to.backups.stage({ context, ...file }),
    add: ({ context, params }, { form, ...file }) => to.backups.create(context, params.deviceId, form, file),
  },
  listBackups: ({ params, query }) => to.backups.list(params.deviceId, query),
  restoreBackup: ({ context, params }) => to.backups.restore(context, params.deviceId, params.backupId),
  downloadBackup: {
    raw: async ({ context, params: { deviceId, backupId }, request, reply }) => {
      const sent = await sendDownload(request, reply, await to.backups.download(deviceId, backupId), to.stallMs);
      const device = deviceIds.parse(deviceId);
      if (isSent(reply) && device !== null)
        to.access.record({ type: 'BACKUP_DOWNLOADED', ...accessOf(context), device, detail: { backupId } });
      return sent;
    },
  },
});
