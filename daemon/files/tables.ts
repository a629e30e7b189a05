/** The tables of applications and backups. */

import { StoreTable } from '../store/table.ts';
import type { AppRecord } from './app.ts';
import type { BackupRecord } from './backup.ts';

export const apps = new StoreTable<AppRecord>(
  'app',
  {
    number: 'integer',
    platform: 'text',
    version: 'text',
    versionName: 'text',
    changelog: 'text',
    forceUpdate: 'boolean',
    minSupportVersion: 'text',
    fileName: 'text',
    extension: 'text',
    fileSize: 'integer',
    sha256: 'text',
    uploadedBy: 'text',
    createdAt: 'integer',
    blob: 'text',
  },
  { unique: ['platform', 'version', 'extension'] },
);

export const backups = new StoreTable<BackupRecord>('backup', {
  number: 'integer',
  device: 'integer',
  fileName: 'text',
  fileSize: 'integer',
  sha256: 'text',
  note: 'text',
  createdAt: 'integer',
  blob: 'text',
});
