import { existsSync } from 'node:fs';
import { type Imprint, metaNames } from '../imprint.ts';
import { toFailure } from './failure.ts';
import { readHead } from './journal.ts';
import { migrations } from './migrations.ts';
import { openReader, versionOf } from './open.ts';
import { Statements } from './statements.ts';

/** Null if there is no registry in the file. Rejects with `StoreFailure` if the file cannot be used; changes nothing. */
export function readImprint(file: string): Imprint | null {
  if (!existsSync(file)) return null;
  const db = openReader(file);
  try {
    if (versionOf(db, file, migrations.length) === 0) return null;
    const statements = new Statements(db);
    const metaValue = (name: string) => statements.value<string>('SELECT value FROM meta WHERE name = ?', name) ?? null;
    return {
      name: file,
      head: readHead(statements),
      instance: metaValue(metaNames.instance),
      copying: metaValue(metaNames.copying),
    };
  } catch (error) {
    throw toFailure(error, 'cannot open the database', file);
  } finally {
    db.close();
  }
}

/** Stores the instance, unless one is stored. */
export function recordInstance(statements: Statements, instance: string): void {
  statements.run('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING', metaNames.instance, instance);
}
