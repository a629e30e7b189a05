import type { DeviceStatus, DeviceType } from '../../../src/contract/device-fields.ts';
import type { Outcome } from '../store.ts';
import { assignments } from './columns.ts';
import type { EntryContext } from './journal.ts';
import type { ChangeOf, Writing } from './writing.ts';

interface Kind {
  readonly type: DeviceType;
  readonly status: DeviceStatus;
  readonly manufacturer: string;
}

export function addDevice(writing: Writing, { device, entry }: ChangeOf<'device.add'>, context: EntryContext): Outcome {
  const number = writing.last.device + 1;
  const { changes } = writing.statements
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
  if (changes === 0) return duplicateDevice(writing, device.serialNumber);
  writing.last.device = number;
  if (context.at < writing.lastCreated) noteClockStep(writing);
  writing.lastCreated = context.at;
  writing.counters.add(device.manufacturer, device.deviceType, 'INACTIVE', 1);
  writing.journal.append(context, entry, number, null);
  writing.deltas.push({ number, added: device, at: context.at });
  return { kind: 'added', number };
}

function duplicateDevice(writing: Writing, serial: string): Outcome {
  const found = writing.statements.get<{ number: number; status: DeviceStatus }>(
    'SELECT number, status FROM device WHERE serial_number = ?',
    serial,
  )!;
  return { kind: 'duplicate', ...found };
}

/** From then on the order of creation is not the order of numbers. */
function noteClockStep(writing: Writing): void {
  writing.statements.run(`INSERT OR IGNORE INTO meta (name, value) VALUES ('clock stepped back', 'yes')`);
}

export function setDevice(
  writing: Writing,
  { device, set, entry }: ChangeOf<'device.set'>,
  context: EntryContext,
): Outcome {
  if (set.status !== undefined) {
    const { type, status, manufacturer } = writing.statements.get<Kind>(
      'SELECT device_type AS type, status, manufacturer FROM device WHERE number = ?',
      device,
    )!;
    writing.counters.add(manufacturer, type, status, -1);
    writing.counters.add(manufacturer, type, set.status, 1);
  }
  const { sql, values } = assignments('device', set);
  if (sql) writing.statements.run(`UPDATE device SET ${sql} WHERE number = ?`, ...values, device);
  writing.journal.append(context, entry, device, null);
  writing.deltas.push({ number: device, set });
  return { kind: 'done' };
}

export function useDevice(
  writing: Writing,
  { device, seconds, entry }: ChangeOf<'device.use'>,
  context: EntryContext,
): Outcome {
  const sums = writing.statements.get<{ usageCount: number; usageSeconds: number }>(
    `UPDATE device SET usage_count = usage_count + 1, usage_seconds = usage_seconds + ?, last_used_at = ?
     WHERE number = ? RETURNING usage_count AS usageCount, usage_seconds AS usageSeconds`,
    seconds,
    context.at,
    device,
  )!;
  writing.journal.append(context, entry, device, null);
  writing.deltas.push({ number: device, set: { lastUsedAt: context.at } });
  return { kind: 'used', ...sums };
}
