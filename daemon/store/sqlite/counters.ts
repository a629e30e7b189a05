import type { DeviceStatus, DeviceType } from '../../../src/contract/device-fields.ts';
import type { Statements } from './statements.ts';

/** Notes within a transaction how many devices of a kind came or went; `write` puts the sums into `device_count` at its end. */
export class Counters {
  readonly #changes = new Map<string, { manufacturer: string; type: DeviceType; status: DeviceStatus; by: number }>();

  add(manufacturer: string, type: DeviceType, status: DeviceStatus, by: 1 | -1): void {
    const key = `${type} ${status} ${manufacturer}`;
    const change = this.#changes.get(key);
    if (change) change.by += by;
    else this.#changes.set(key, { manufacturer, type, status, by });
  }

  write(statements: Statements): void {
    for (const { manufacturer, type, status, by } of this.#changes.values()) {
      if (by === 0) continue;
      statements.run(
        `INSERT OR IGNORE INTO device_count (manufacturer, device_type, status, count) VALUES (?, ?, ?, 0)`,
        manufacturer,
        type,
        status,
      );
      statements.run(
        `UPDATE device_count SET count = count + ? WHERE manufacturer = ? AND device_type = ? AND status = ?`,
        by,
        manufacturer,
        type,
        status,
      );
    }
    this.clear();
  }

  clear(): void {
    this.#changes.clear();
  }
}
