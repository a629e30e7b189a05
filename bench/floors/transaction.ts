/** One raw, durable transaction of 10,000 devices with their journal rows and counters, into the tables of the registry. */
import Database from 'better-sqlite3';
import { migrations } from '../../daemon/store/sqlite/migrations/index.ts';

const ROWS = 10_000;
const db = new Database(process.argv[2]!);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
if (db.pragma('user_version', { simple: true }) === 0) for (const { sql } of migrations) db.exec(sql);
const device = db.prepare(
  `INSERT INTO device (device_type, serial_number, manufacturer, model, activation_code, activation_code_expires_at, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
const event = db.prepare(
  `INSERT INTO event (at, type, device, subject, actor, request_id, data, detail, mac) VALUES (?, 'DEVICE_REGISTERED', ?, NULL, ?, ?, ?, '{}', ?)`,
);
const counter = db.prepare(
  `INSERT INTO device_count (manufacturer, device_type, status, count) VALUES (?, ?, 'INACTIVE', 1) ON CONFLICT DO UPDATE SET count = count + 1`,
);
const now = Date.now();
const rows = Array.from({ length: ROWS }, (_, n) => ({
  type: n % 2 ? 'UKEY' : 'SIMKEY',
  serial: `b${now}-${n}`,
  maker: `Maker ${n % 5}`,
}));
const begun = performance.now();
db.transaction(() => {
  for (const { type, serial, maker } of rows) {
    const { lastInsertRowid } = device.run(type, serial, maker, 'M1', 'AAAA-BBBB-CCCC-DDDD', now, now);
    event.run(
      now,
      lastInsertRowid,
      'admin',
      'x-1',
      `{"deviceType":"${type}","serialNumber":"${serial}"}`,
      'A'.repeat(44),
    );
    counter.run(maker, type);
  }
})();
process.stdout.write(JSON.stringify({ rowsPerSecond: ROWS / ((performance.now() - begun) / 1000) }));
db.close();
