import type { FastifyInstance } from 'fastify';
import { routes } from '../../../src/contract/routes.ts';
import type { BackupService } from '../../services/backups.ts';
import { sendDownload } from '../download.ts';
import { type FormTimes, formOperation } from '../form-operation.ts';
import { type OperationParts, operation, rawOperation } from '../operation.ts';

export interface BackupParts extends OperationParts {
  readonly backups: BackupService;
  readonly formTimes?: FormTimes;
}

export function backupRoutes(app: FastifyInstance, parts: BackupParts): void {
  const { backups } = parts;
  formOperation(app, parts, routes.createBackup, {
    before: ({ params }) => backups.judge(params.deviceId),
    stage: (content, maxBytes, expected) => backups.stage(content, maxBytes, expected),
    add: ({ context, params }, { form, ...file }) => backups.create(context, params.deviceId, form, file),
  });
  operation(app, parts, routes.listBackups, ({ params, query }) => backups.list(params.deviceId, query));
  operation(app, parts, routes.restoreBackup, ({ context, params }) =>
    backups.restore(context, params.deviceId, params.backupId),
  );
  rawOperation(app, parts, routes.downloadBackup, async ({ params, request, reply }) =>
    sendDownload(request, reply, await backups.download(params.deviceId, params.backupId)),
  );
}
