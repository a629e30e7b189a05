/** One raw, durable transaction of 10,000 devices with their journal rows and counters, into the tables of a registry. */
import { openDurable } from './durable.ts';

const ROWS = 10_000;
const db = await openDurable(process.argv[2]!);
const next = db.prepare('SELECT coalesce(max(id), 0) + 1 FROM event').pluck().get() as number;
const device = db.prepare(
  `INSERT INTO device (device_type, serial_number, manufacturer, model, activation_code, activation_code_expires_at, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
const event = db.prepare(
  `INSERT INTO event (id, at, type, device, subject, actor, request_id, data, detail, mac)
   VALUES (?, ?, 'DEVICE_REGISTERED', ?, NULL, ?, ?, ?, '{}', ?)`,
);
const counter = db.prepare(
  `INSERT INTO device_count (manufacturer, device_type, status, count) VALUES (?, ?, 'INACTIVE', ?)
   ON CONFLICT DO UPDATE SET count = count + excluded.count`,
);
const now = Date.now();
const rows = Array.from({ length: ROWS }, (_, n) => ({
  type: n % 2 ? 'UKEY' : 'SIMKEY',
  serial: `b${now}-${n}`,
  maker: `Maker ${n % 5}`,
}));
const begun = performance.now();
db.transaction(() => {
  for (const [n, { type, serial, maker }] of rows.entries()) {
    const { lastInsertRowid } = device.run(type, serial, maker, 'M1', 'AAAA-BBBB-CCCC-DDDD', now, now);
    const data = `{"deviceType":"${type}","serialNumber":"${serial}"}`;
    event.run(next + n, now, lastInsertRowid, 'admin', 'x-1', data, 'A'.repeat(44));
  }
  for (const type of ['UKEY', 'SIMKEY'])
    for (let maker = 0; maker < 5; maker++) counter.run(`Maker ${maker}`, type, ROWS / 10);
})();
const perSecond = ROWS / ((performance.now() - begun) / 1000);
const kept = db.prepare('SELECT count(*) FROM device WHERE created_at = ?').pluck().get(now);
if (kept !== ROWS) throw new Error(`${kept} rows were kept`);
process.stdout.write(JSON.stringify({ rowsPerSecond: perSecond }));
db.close();
