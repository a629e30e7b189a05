import type { DeviceStatus, DeviceType } from '../../../src/api/device-fields.ts';
import type { Change, Commit, DeviceSet, NewDevice, Outcome } from '../store.ts';
import { assignments } from './columns.ts';
import { Counters } from './counters.ts';
import { checkCommit } from './guards.ts';
import type { EntryContext, Journal } from './journal.ts';
import type { Statements } from './statements.ts';

/** What a transaction did to devices, for those who keep more than the tables. */
export type DeviceDelta =
  | { readonly number: number; readonly added: NewDevice; readonly at: number }
  | { readonly number: number; readonly set: DeviceSet & { readonly lastUsedAt?: number } };

type Of<K extends Change['kind']> = Extract<Change, { kind: K }>;
type Table = 'device' | 'user' | 'app' | 'backup';
interface Kind {
  readonly type: DeviceType;
  readonly status: DeviceStatus;
  readonly manufacturer: string;
}

const tables: readonly Table[] = ['device', 'user', 'app', 'backup'];
const done: Outcome = { kind: 'done' };

/**
 * Applies commits inside a transaction that the caller begins and ends: `finish` before COMMIT, `reload` after ROLLBACK.
 * There is one writer for a database, so the numbers that come next are kept here.
 */
export class Writer {
  readonly #statements: Statements;
  readonly #journal: Journal;
  readonly #counters = new Counters();
  readonly #last: Record<Table, number> = { device: 0, user: 0, app: 0, backup: 0 };
  #lastCreated = 0;
  #deltas: DeviceDelta[] = [];
  #users = new Set<number>();

  constructor(statements: Statements, journal: Journal) {
    this.#statements = statements;
    this.#journal = journal;
  }

  /** Takes up where the database stands. Returns what is wrong with the end of the journal; null where nothing is. */
  reload(): string | null {
    for (const table of tables)
      this.#last[table] = this.#statements.value<number | null>(`SELECT max(number) FROM ${table}`) ?? 0;
    this.#lastCreated =
      this.#statements.value<number>('SELECT created_at FROM device WHERE number = ?', this.#last.device) ?? 0;
    this.#counters.clear();
    this.#deltas = [];
    this.#users = new Set();
    return this.#journal.reload();
  }

  /** Applies one commit, change by change. Throws `Conflict` before anything is written. */
  *apply(commit: Commit): Generator<void, Outcome[]> {
    checkCommit(this.#statements, commit);
    const outcomes: Outcome[] = [];
    for (const change of commit.changes) {
      outcomes.push(this.#change(change, commit));
      yield;
    }
    return outcomes;
  }

  /** Writes what is summed up over a transaction, and returns what it did; null where that is nothing. */
  finish(): { deltas: readonly DeviceDelta[]; users: readonly number[]; lastEventId: number } | null {
    if (!this.#journal.unsealed) return null;
    this.#counters.write(this.#statements);
    this.#journal.seal();
    const result = { deltas: this.#deltas, users: [...this.#users], lastEventId: this.#journal.lastId };
    this.#deltas = [];
    this.#users = new Set();
    return result;
  }

  #change(change: Change, context: EntryContext): Outcome {
    switch (change.kind) {
      case 'device.add':
        return this.#addDevice(change, context);
      case 'device.set':
        return this.#setDevice(change, context);
      case 'device.use':
        return this.#useDevice(change, context);
      case 'user.add':
        return this.#addUser(change, context);
      case 'user.set':
        return this.#setUser(change, context);
      case 'app.add':
        return this.#addApp(change, context);
      case 'backup.add':
        return this.#addBackup(change, context);
      case 'backup.restore':
        this.#journal.append(context, change.entry, change.device, change.backup);
        return done;
    }
  }

  #addDevice({ device, entry }: Of<'device.add'>, context: EntryContext): Outcome {
    const number = this.#last.device + 1;
    const { changes } = this.#statements
      .of(
        `INSERT INTO device (number, device_type, serial_number, manufacturer, model, hardware_version, firmware_version,
           activation_code, activation_code_expires_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (serial_number) DO NOTHING`,
      )
      .run(
        number,
        device.deviceType,
        device.serialNumber,
        device.manufacturer,
        device.model,
        device.hardwareVersion,
        device.firmwareVersion,
        device.activationCode,
        device.activationCodeExpiresAt,
        context.at,
      );
    if (changes === 0) return this.#duplicateDevice(device.serialNumber);
    this.#last.device = number;
    if (context.at < this.#lastCreated) this.#noteClockStep();
    this.#lastCreated = context.at;
    this.#counters.add(device.manufacturer, device.deviceType, 'INACTIVE', 1);
    this.#journal.append(context, entry, number, null);
    this.#deltas.push({ number, added: device, at: context.at });
    return { kind: 'added', number };
  }

  #duplicateDevice(serial: string): Outcome {
    const found = this.#statements.get<{ number: number; status: DeviceStatus }>(
      'SELECT number, status FROM device WHERE serial_number = ?',
      serial,
    )!;
    return { kind: 'duplicate', ...found };
  }

  /** From then on the order of creation is not the order of numbers. */
  #noteClockStep(): void {
    this.#statements.run(`INSERT OR IGNORE INTO meta (name, value) VALUES ('clock stepped back', 'yes')`);
  }

  #setDevice({ device, set, entry }: Of<'device.set'>, context: EntryContext): Outcome {
    if (set.status !== undefined) {
      const { type, status, manufacturer } = this.#statements.get<Kind>(
        'SELECT device_type AS type, status, manufacturer FROM device WHERE number = ?',
        device,
      )!;
      this.#counters.add(manufacturer, type, status, -1);
      this.#counters.add(manufacturer, type, set.status, 1);
    }
    const { sql, values } = assignments('device', set);
    if (sql) this.#statements.run(`UPDATE device SET ${sql} WHERE number = ?`, ...values, device);
    this.#journal.append(context, entry, device, null);
    this.#deltas.push({ number: device, set });
    return done;
  }

  #useDevice({ device, seconds, entry }: Of<'device.use'>, context: EntryContext): Outcome {
    const sums = this.#statements.get<{ usageCount: number; usageSeconds: number }>(
      `UPDATE device SET usage_count = usage_count + 1, usage_seconds = usage_seconds + ?, last_used_at = ?
       WHERE number = ? RETURNING usage_count AS usageCount, usage_seconds AS usageSeconds`,
      seconds,
      context.at,
      device,
    )!;
    this.#journal.append(context, entry, device, null);
    this.#deltas.push({ number: device, set: { lastUsedAt: context.at } });
    return { kind: 'used', ...sums };
  }

  #addUser({ user, entry }: Of<'user.add'>, context: EntryContext): Outcome {
    const number = this.#last.user + 1;
    const { changes } = this.#statements.run(
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
      return this.#duplicate(this.#statements.value('SELECT number FROM user WHERE username = ?', user.username));
    this.#last.user = number;
    this.#users.add(number);
    this.#journal.append(context, entry, null, number);
    return { kind: 'added', number };
  }

  #setUser({ user, set, revoke, entry }: Of<'user.set'>, context: EntryContext): Outcome {
    const { sql, values } = assignments('user', set);
    const all = [sql, revoke ? 'token_epoch = token_epoch + 1' : ''].filter(Boolean).join(', ');
    if (all) this.#statements.run(`UPDATE user SET ${all} WHERE number = ?`, ...values, user);
    this.#users.add(user);
    this.#journal.append(context, entry, null, user);
    return done;
  }

  #addApp({ app, entry }: Of<'app.add'>, context: EntryContext): Outcome {
    const number = this.#last.app + 1;
    const { changes } = this.#statements.run(
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
      return this.#duplicate(
        this.#statements.value(
          'SELECT number FROM app WHERE platform = ? AND version = ? AND extension = ?',
          app.platform,
          app.version,
          app.extension,
        ),
      );
    this.#last.app = number;
    this.#journal.append(context, entry, null, number);
    return { kind: 'added', number };
  }

  #addBackup({ backup, entry }: Of<'backup.add'>, context: EntryContext): Outcome {
    const number = this.#last.backup + 1;
    this.#statements.run(
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
    this.#statements.run(
      'UPDATE device SET backup_count = backup_count + 1, last_backup_at = ? WHERE number = ?',
      context.at,
      backup.device,
    );
    this.#last.backup = number;
    this.#journal.append(context, entry, backup.device, number);
    return { kind: 'added', number };
  }

  #duplicate(number: number | undefined): Outcome {
    return { kind: 'duplicate', number: number!, status: null };
  }
}
