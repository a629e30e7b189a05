import type { Outcome } from '../store.ts';
import { assignments } from './columns.ts';
import type { EntryContext } from './journal.ts';
import type { ChangeOf, Writing } from './writing.ts';

export function addUser(writing: Writing, { user, entry }: ChangeOf<'user.add'>, context: EntryContext): Outcome {
  const number = writing.last.user + 1;
  const { changes } = writing.statements.run(
    `INSERT INTO user (number, username, password_hash, role, email, disabled, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (username) DO NOTHING`,
    number,
    user.username,
    user.passwordHash,
    user.role,
    user.email,
    Number(user.disabled),
    context.at,
  );
  if (changes === 0)
    return duplicate(writing.statements.value('SELECT number FROM user WHERE username = ?', user.username));
  writing.last.user = number;
  writing.users.add(number);
  writing.journal.append(context, entry, null, number);
  return { kind: 'added', number };
}

export function setUser(
  writing: Writing,
  { user, set, revoke, entry }: ChangeOf<'user.set'>,
  context: EntryContext,
): Outcome {
  const { sql, values } = assignments('user', set);
  const all = [sql, revoke ? 'token_epoch = token_epoch + 1' : ''].filter(Boolean).join(', ');
  if (all) writing.statements.run(`UPDATE user SET ${all} WHERE number = ?`, ...values, user);
  writing.users.add(user);
  writing.journal.append(context, entry, null, user);
  return { kind: 'done' };
}

export function addApp(writing: Writing, { app, entry }: ChangeOf<'app.add'>, context: EntryContext): Outcome {
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
  if (changes === 0)
    return duplicate(
      writing.statements.value(
        'SELECT number FROM app WHERE platform = ? AND version = ? AND extension = ?',
        app.platform,
        app.version,
        app.extension,
      ),
    );
  writing.last.app = number;
  writing.journal.append(context, entry, null, number);
  return { kind: 'added', number };
}

export function addBackup(writing: Writing, { backup, entry }: ChangeOf<'backup.add'>, context: EntryContext): Outcome {
  const number = writing.last.backup + 1;
  writing.statements.run(
    `INSERT INTO backup (number, device, file_name, file_size, sha256, note, created_at, blob)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    number,
    backup.device,
    backup.fileName,
    backup.fileSize,
    backup.sha256,
    backup.note,
    context.at,
    backup.blob,
  );
  writing.statements.run(
    'UPDATE device SET backup_count = backup_count + 1, last_backup_at = ? WHERE number = ?',
    context.at,
    backup.device,
  );
  writing.last.backup = number;
  writing.journal.append(context, entry, backup.device, number);
  return { kind: 'added', number };
}

function duplicate(number: number | undefined): Outcome {
  return { kind: 'duplicate', number: number!, status: null };
}
