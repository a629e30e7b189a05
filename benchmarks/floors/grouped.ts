/**
 * Registrations with the least code: `node:http`, JSON, and the transactions of the daemon by `pg`. What arrives while a transaction
 * runs is the next one: two round trips, the same rows, entries, MACs and counters, into the same tables.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { newActivationCode } from '../../daemon/devices/activation-code.ts';
import { codeDigest } from '../../daemon/devices/digest.ts';
import { entryMac, macWith, sealOf } from '../../daemon/store/chain.ts';
import { undescribed } from '../../src/contract/device-description.ts';

interface Registration {
  readonly deviceType: 'UKEY' | 'SIMKEY';
  readonly serialNumber: string;
  readonly manufacturer: string;
  readonly model: string;
}
interface Waiting {
  readonly device: Registration;
  readonly response: ServerResponse;
}

const YEAR = 365 * 86_400_000;
const HOUR = 3_600_000;
const mac = macWith(Buffer.alloc(32, 7));
const request = randomBytes(8).toString('hex');
const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : String) };
const client = new pg.Client({
  connectionString: process.argv[2]!,
  types,
  pipeline: true,
} as unknown as pg.ClientConfig);
await client.connect();

const statement =
  (name: string, text: string) =>
  (values: unknown[] = []) =>
    client.query({ name, text, values });
const begin = statement('begin', 'BEGIN');
const lock = statement('lock', 'SELECT event, mac, at, device FROM head FOR UPDATE');
const caller = statement('caller', 'SELECT * FROM "user" WHERE number = $1');
const known = statement('known', 'SELECT serial_number FROM device WHERE serial_number = ANY($1::text[])');
const addDevices = statement(
  'devices',
  `INSERT INTO device (number, device_type, serial_number, manufacturer, model, status, activation_code, activation_code_expires_at, created_at,
     usage_count, usage_seconds, backup_count)
   SELECT number, type, serial, maker, model, 'INACTIVE', code, expires, at, 0, 0, 0
   FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int8[], $8::int8[])
     AS n (number, type, serial, maker, model, code, expires, at)`,
);
const addEvents = statement(
  'events',
  `INSERT INTO event (id, at, type, device, actor, request_id, data, detail, mac)
   SELECT id, at, 'DEVICE_REGISTERED', device, 'admin', request, data, detail, mac
   FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::text[]) AS n (id, at, device, request, data, detail, mac)`,
);
const addCounts = statement(
  'counts',
  `INSERT INTO device_count (manufacturer, device_type, status, count) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
   ON CONFLICT (manufacturer, device_type, status) DO UPDATE SET count = device_count.count + excluded.count`,
);
const addHours = statement(
  'hours',
  `INSERT INTO registration_count (hour, count) VALUES ($1, $2) ON CONFLICT (hour) DO UPDATE SET count = registration_count.count + excluded.count`,
);
const moveHead = statement('head', 'UPDATE head SET event = $1, mac = $2, seal = $3, at = $4, device = $5');
const commit = statement('commit', 'COMMIT');

let waiting: Waiting[] = [];
let running = false;

async function run(): Promise<void> {
  running = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    for (const { response, text } of await transaction(group)) {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.setHeader('content-length', Buffer.byteLength(text));
      response.end(text);
    }
  }
  running = false;
}

async function transaction(group: readonly Waiting[]) {
  const serials = group.map(({ device }) => device.serialNumber);
  const [, head, , existing] = await Promise.all([begin(), lock(), caller([1]), known([serials])]);
  if (existing.rows.length > 0) throw new Error('a serial number was there before');
  let {
    event,
    mac: last,
    at,
    device: number,
  } = head.rows[0] as { event: number; mac: string; at: number; device: number };
  at = Math.max(at, Date.now());
  const expires = at + YEAR;
  const devices: unknown[][] = Array.from({ length: 8 }, () => []);
  const events: unknown[][] = Array.from({ length: 7 }, () => []);
  const counts = new Map<string, [string, string, number]>();
  const answers = group.map(({ device, response }) => {
    const { deviceType, serialNumber, manufacturer, model } = device;
    const activationCode = newActivationCode();
    const coded = { ...undescribed, deviceType, serialNumber, manufacturer, model };
    const detail = JSON.stringify({
      codeDigest: codeDigest({ ...coded, activationCode, activationCodeExpiresAt: expires }),
    });
    const data = JSON.stringify({ deviceType, serialNumber });
    const row = {
      id: ++event,
      at,
      type: 'DEVICE_REGISTERED',
      device: ++number,
      subject: null,
      actor: 'admin',
      request_id: request,
      data,
      detail,
    };
    last = entryMac(mac, last, row);
    put(devices, [number, deviceType, serialNumber, manufacturer, model, activationCode, expires, at]);
    put(events, [event, at, number, request, data, detail, last]);
    const key = `${deviceType} ${manufacturer}`;
    const count = counts.get(key);
    if (count) count[2]++;
    else counts.set(key, [manufacturer, deviceType, 1]);
    const shown = {
      deviceId: `DEV-${number}`,
      deviceType,
      serialNumber,
      manufacturer,
      model,
      status: 'INACTIVE',
      activationCode,
      createdAt: new Date(at).toISOString(),
    };
    return { response, text: JSON.stringify({ code: 200, message: 'success', data: shown }) };
  });
  const kinds = [...counts.values()];
  const column = (place: number) => kinds.map(kind => kind[place]);
  const done = await Promise.all([
    addDevices(devices),
    addCounts([column(0), column(1), kinds.map(() => 'INACTIVE'), column(2)]),
    addHours([Math.floor(at / HOUR), group.length]),
    addEvents(events),
    moveHead([event, last, sealOf(mac, { id: event, mac: last }), at, number]),
    commit(),
  ]);
  if (done.at(-1)!.command !== 'COMMIT') throw new Error('the transaction was not committed');
  return answers;
}

function put(columns: unknown[][], row: readonly unknown[]): void {
  for (const [i, value] of row.entries()) columns[i]!.push(value);
}

const server = createServer((message, response) => {
  if (message.method !== 'POST') return void response.end('ready');
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => {
    waiting.push({ device: JSON.parse(Buffer.concat(chunks).toString('utf8')) as Registration, response });
    if (!running) void run();
  });
});
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ event: 'listening', url })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
