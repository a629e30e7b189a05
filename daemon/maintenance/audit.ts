/** The journal, written out for a person, a script or a spreadsheet. No operation of the interface shows it. */
import { journalEventTypes } from '../../src/contract/events.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import { StartRefused } from '../home/settings.ts';
import { type ProgramIo, print, reporting } from '../program-io.ts';
import { openSqliteReader, type SqliteReader } from '../store/sqlite/reader.ts';
import type { EventFilter, EventRecord, PrivateEventType } from '../store/store.ts';
import { existingHome, type HomeOptions } from './maintenance.ts';

export interface AuditOptions extends HomeOptions {
  /** Only entries of this device: its deviceId or its serial number. */
  readonly device: string | null;
  /** Only entries after this event id. */
  readonly since: number | null;
  /** Only the last so many. */
  readonly limit: number | null;
  readonly verify: boolean;
  /** Only what this user did. */
  readonly user?: string | null;
  /** Only entries of these types. */
  readonly types?: readonly string[] | null;
  /** Milliseconds since 1970; from inclusive, to inclusive. */
  readonly from?: number | null;
  readonly to?: number | null;
  readonly csv?: boolean;
}

interface Line {
  readonly id: number;
  readonly timestamp: string;
  readonly type: string;
  readonly deviceId: string | null;
  readonly serialNumber: string | null;
  readonly user: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const PAGE = 1000;
const csvHeader = 'id,timestamp,type,deviceId,serialNumber,user,requestId,details\n';

export function audit(options: AuditOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const reader = openSqliteReader({ file: home.path('database'), journalKey: await home.existingKey('journalKey') });
    try {
      return options.verify ? await verify(reader, options, io) : await list(reader, options, io);
    } finally {
      reader.close();
    }
  });
}

async function verify(reader: SqliteReader, options: AuditOptions, io: ProgramIo): Promise<number> {
  const { entries, problems } = await reader.verifyJournal();
  const words = problems.length ? `${problems.join('\n')}\n` : `whole: ${entries} entries\n`;
  await print(io.stdout, options.json ? `${JSON.stringify({ entries, problems })}\n` : words);
  return problems.length ? 1 : 0;
}

async function list(reader: SqliteReader, options: AuditOptions, io: ProgramIo): Promise<number> {
  const filter = await filterOf(reader, options);
  const write = options.json ? ndjson : options.csv ? csv : readable;
  if (write === csv && !(await print(io.stdout, csvHeader))) return 0;
  const last: string[] = [];
  for await (const record of entries(reader, filter)) {
    const text = write(await toLine(reader, record));
    if (options.limit === null) {
      if (!(await print(io.stdout, text))) return 0;
    } else if (last.push(text) > options.limit) last.shift();
  }
  if (last.length) await print(io.stdout, last.join(''));
  return 0;
}

async function* entries(reader: SqliteReader, filter: Omit<EventFilter, 'limit'>): AsyncGenerator<EventRecord> {
  for (let after = filter.after; ; ) {
    const page = await reader.events({ ...filter, after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

async function filterOf(reader: SqliteReader, options: AuditOptions): Promise<Omit<EventFilter, 'limit'>> {
  return {
    after: options.since ?? 0,
    device: options.device === null ? undefined : await deviceNumber(reader, options.device),
    actor: options.user ?? undefined,
    types: options.types?.map(typeOf),
    from: options.from ?? undefined,
    to: options.to ?? undefined,
  };
}

const ofUsersAndUse: Readonly<Record<PrivateEventType, true>> = {
  USER_CREATED: true,
  USER_UPDATED: true,
  USER_LOGGED_OUT: true,
  PASSWORD_CHANGED: true,
  DEVICE_USED: true,
  BACKUP_CREATED: true,
  BACKUP_RESTORED: true,
};
const types = [...journalEventTypes, ...Object.keys(ofUsersAndUse)] as EventRecord['type'][];

/** A name that is mistyped would look as if nothing of that kind had happened. */
function typeOf(name: string): EventRecord['type'] {
  const type = types.find(known => known === name);
  if (type) return type;
  throw new StartRefused(2, `the journal has no entries of a type ${name}`, `types are ${types.join(', ')}`);
}

async function deviceNumber(reader: SqliteReader, name: string): Promise<number> {
  const number = deviceIds.parse(name) ?? (await reader.devicesBySerial([name])).get(name)?.number;
  if (number === undefined) throw new StartRefused(1, `no device has the id or serial number ${name}`);
  return number;
}

async function toLine(reader: SqliteReader, record: EventRecord): Promise<Line> {
  const device = record.device === null ? null : await reader.device(record.device);
  return {
    id: record.id,
    timestamp: new Date(record.at).toISOString(),
    type: record.type,
    deviceId: record.device === null ? null : deviceIds.format(record.device),
    serialNumber: device?.serialNumber ?? null,
    user: record.actor,
    requestId: record.requestId,
    details: { ...record.data, ...record.detail },
  };
}

const ndjson = (line: Line): string => `${JSON.stringify(line)}\n`;

function csv(line: Line): string {
  const cells = [
    line.id,
    line.timestamp,
    line.type,
    line.deviceId,
    line.serialNumber,
    line.user,
    line.requestId,
    JSON.stringify(line.details),
  ];
  return `${cells.map(cell => csvCell(String(cell ?? ''))).join(',')}\n`;
}

/** A cell that begins like a formula would be run by a spreadsheet. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** JSON escapes keep the controls of a text away from the terminal. */
function readable(line: Line): string {
  const details = Object.entries(line.details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
  const who = line.user ?? 'devmgr';
  return `${line.id}  ${line.timestamp}  ${line.type.padEnd(25)}  ${line.deviceId ?? '-'} ${line.serialNumber ?? ''}  ${who}  ${details}\n`;
}
