import type { DeviceStatus } from '../../../src/contract/device-fields.ts';
import { type Change, type Commit, Conflict, type Guard } from '../store.ts';
import type { Statements } from './statements.ts';

/** Throws `Conflict` where a guard does not hold or a row to change is missing. Reads only. */
export function checkCommit(statements: Statements, commit: Commit): void {
  for (const guard of commit.guards ?? []) checkGuard(statements, guard);
  for (const change of commit.changes) checkPresence(statements, change);
}

function checkGuard(statements: Statements, guard: Guard): void {
  switch (guard.kind) {
    case 'device': {
      const found = statements.get<{ status: DeviceStatus; code: string }>(
        'SELECT status, activation_code AS code FROM device WHERE number = ?',
        guard.device,
      );
      if (!found) throw new Conflict(`device ${guard.device} does not exist`);
      if (!guard.status.includes(found.status)) throw new Conflict(`device ${guard.device} is ${found.status} now`);
      if (guard.activationCode !== undefined && guard.activationCode !== found.code)
        throw new Conflict(`device ${guard.device} has another activation code now`);
      return;
    }
    case 'user': {
      const epoch = statements.value<number>('SELECT token_epoch FROM user WHERE number = ?', guard.user);
      if (epoch !== guard.tokenEpoch) throw new Conflict(`user ${guard.user} was logged out, or does not exist`);
      return;
    }
    case 'another-admin': {
      const other = statements.value<number>(
        `SELECT number FROM user WHERE role = 'ADMIN' AND disabled = 0 AND number <> ? LIMIT 1`,
        guard.beside,
      );
      if (other === undefined) throw new Conflict(`no enabled ADMIN beside user ${guard.beside}`);
      return;
    }
  }
}

const present = {
  device: 'SELECT 1 FROM device WHERE number = ?',
  user: 'SELECT 1 FROM user WHERE number = ?',
} as const;

function checkPresence(statements: Statements, change: Change): void {
  switch (change.kind) {
    case 'device.add':
    case 'user.add':
    case 'app.add':
      return;
    case 'device.set':
    case 'device.use':
      demand(statements, 'device', change.device);
      return;
    case 'backup.add':
      demand(statements, 'device', change.backup.device);
      return;
    case 'user.set':
      demand(statements, 'user', change.user);
      return;
    case 'backup.restore':
      if (statements.value('SELECT device FROM backup WHERE number = ?', change.backup) !== change.device)
        throw new Conflict(`device ${change.device} has no backup ${change.backup}`);
  }
}

function demand(statements: Statements, table: keyof typeof present, number: number): void {
  if (statements.value(present[table], number) === undefined) throw new Conflict(`${table} ${number} does not exist`);
}
