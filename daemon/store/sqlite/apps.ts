/** The table of application versions: its columns, reads and writes. */
import type { AppChange, AppRecord } from '../../domain/app.ts';
import type { Statements } from './statements.ts';
import { columnsOf, pageOf, type Reads, type Stored } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

const fields: Record<keyof AppRecord, 0> = {
  number: 0,
  platform: 0,
  version: 0,
  versionName: 0,
  changelog: 0,
  forceUpdate: 0,
  minSupportVersion: 0,
  fileName: 0,
  extension: 0,
  fileSize: 0,
  sha256: 0,
  uploadedBy: 0,
  createdAt: 0,
  blob: 0,
};
const apps = {
  table: 'app',
  columns: columnsOf(fields),
  toRecord: (columns: Stored<AppRecord>): AppRecord => ({ ...columns, forceUpdate: columns.forceUpdate === 1 }),
};

/** The reads of application versions. */
export function appReads(statements: Statements): Pick<Reads, 'app' | 'apps' | 'appsOf'> {
  const select = `SELECT ${apps.columns} FROM app WHERE`;
  const all = (condition: string, value: unknown) =>
    statements.all<Stored<AppRecord>>(`${select} ${condition}`, value).map(apps.toRecord);
  return {
    app: number => all('number = ?', number)[0] ?? null,
    apps: ({ platform, ...window }) =>
      pageOf(statements, apps, window, platform && { column: 'platform', value: platform }),
    appsOf: platform => all('platform = ? ORDER BY created_at, number', platform),
  };
}

const add: Apply<'app.add'> = ({ app, entry }, context, writing) => {
  const number = writing.last.app + 1;
  const { changes } = writing.statements.run(
    `INSERT INTO app (number, platform, version, version_name, changelog, force_update, min_support_version, file_name,
       extension, file_size, sha256, uploaded_by, created_at, blob)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (platform, version, extension) DO NOTHING`,
    number,
    app.platform,
    app.version,
    app.versionName,
    app.changelog,
    Number(app.forceUpdate),
    app.minSupportVersion,
    app.fileName,
    app.extension,
    app.fileSize,
    app.sha256,
    app.uploadedBy,
    context.at,
    app.blob,
  );
  if (changes === 0) {
    const existing = writing.statements.value<number>(
      'SELECT number FROM app WHERE platform = ? AND version = ? AND extension = ?',
      app.platform,
      app.version,
      app.extension,
    )!;
    return { kind: 'duplicate', number: existing, status: null };
  }
  writing.last.app = number;
  writing.journal.append(context, entry, null, number);
  return { kind: 'added', number };
};

/** How uploads are written. */
export const appWrites: Writes<AppChange['kind']> = { 'app.add': { apply: add } };
