import type { DeviceStatus, DeviceType, ProofGrade } from '../../../../src/contract/values.ts';
import { proofGrade } from '../lists-sql.ts';
import type { Statements } from '../statements.ts';
import type { DeviceColumns } from './device-columns.ts';

type LoadRow = [
  DeviceType,
  string,
  string,
  string,
  DeviceStatus,
  number,
  number | null,
  number | null,
  number | null,
  number,
  ProofGrade,
];

const chunk = 1000;
const sql = `SELECT device_type, serial_number, manufacturer, model, status, created_at, activated_at, last_used_at, updated_at, activation_code_expires_at,
    ${proofGrade}
  FROM device WHERE number > ? ORDER BY number LIMIT ${chunk}`;

/** Adds the devices that are in the database but not yet in the columns. Yields regularly. */
export function* load(statements: Statements, columns: DeviceColumns): Generator<void, void> {
  const select = statements.db.prepare(sql).raw();
  columns.reserve(statements.value<number | null>('SELECT max(number) FROM device') ?? 0);
  for (;;) {
    const rows = select.all(columns.count) as LoadRow[];
    for (const [
      deviceType,
      serialNumber,
      manufacturer,
      model,
      status,
      createdAt,
      activatedAt,
      lastUsedAt,
      updatedAt,
      activationCodeExpiresAt,
      grade,
    ] of rows)
      columns.add({
        deviceType,
        serialNumber,
        manufacturer,
        model,
        status,
        createdAt,
        activatedAt,
        lastUsedAt,
        updatedAt,
        activationCodeExpiresAt,
        grade,
      });
    if (rows.length < chunk) return;
    yield;
  }
}
