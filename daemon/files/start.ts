/** Files: application versions, and backups of devices. */
import type { StartSubject } from '../http/subject.ts';
import { AppService } from './apps.ts';
import { BackupService } from './backups.ts';
import { fileBudget } from './file-budget.ts';
import { fileOperations } from './routes.ts';

export const startFiles: StartSubject = ({ settings, store, blobs, access, now }) => {
  const files = { store, blobs, budget: fileBudget(settings.fileBounds, blobs, store), now };
  return { operations: fileOperations({ apps: new AppService(files), backups: new BackupService(files), access }) };
};
