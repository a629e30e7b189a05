/** Prints the journal for a person, a script or a spreadsheet. No operation of the interface shows it. */
import { csvCell } from '../../src/contract/csv.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { AuditOptions, ProgramIo } from '../../src/contract/programs.ts';
import { escapedLine } from '../base/escaped.ts';
import { StartRefused } from '../base/start-refused.ts';
import { presentHeads } from '../home/head-file.ts';
import type { Home } from '../home/home.ts';
import { type AuditLine, toAuditLine } from '../requests/audit-line.ts';
import { print, reporting } from '../start/program-io.ts';
import { storeMaintenance } from '../start/store-engine.ts';
import { type EntryType, type EventRecord, entryTypes } from '../store/journal.ts';
import type { RegistryReader } from '../store/maintenance.ts';
import type { EventFilter, JournalAnchor } from '../store/queries.ts';
import { entryText, nameWithoutActor } from './entry-text.ts';
import { existingRegistry, notCoveredText } from './maintenance.ts';

const PAGE = 1000;
const csvHeader = 'id,timestamp,type,deviceId,serialNumber,user,requestId,details\n';

/** Prints the entries that match. Exit code 1 if `verify` finds problems. */
export function audit(options: AuditOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const { home, target } = await existingRegistry(options, io.env);
    const reader = await storeMaintenance(target, home).openReader();
    try {
      if (options.verify) return await verify(home, reader, options, io);
      return options.head === true ? await printHead(home, reader, options, io) : await list(reader, options, io);
    } finally {
      await reader.close();
    }
  });
}

async function verify(home: Home, reader: RegistryReader, options: AuditOptions, io: ProgramIo): Promise<number> {
  const given = typeof options.head === 'string' ? [givenHead(options.head)] : [];
  const heads = await presentHeads(home);
  const { anchors } = heads;
  const journal = await reader.verifyJournal({ ...anchors, heads: [...given, ...anchors.heads] });
  const report = { ...journal, problems: [...journal.problems, ...heads.problems] };
  const { entries, problems } = report;
  const text = problems.length ? `${problems.map(escapedLine).join('\n')}\n` : `OK: ${entries} entries checked\n`;
  await print(io.stdout, options.json ? `${JSON.stringify(report)}\n` : text);
  if (!options.json) io.stderr.write(notCoveredText(report));
  return problems.length ? 1 : 0;
}

/** Prints the end of the journal, after checking that the daemon has sealed it. */
async function printHead(home: Home, reader: RegistryReader, options: AuditOptions, io: ProgramIo): Promise<number> {
  const head = await reader.sealedHead();
  if (head === null)
    throw new StartRefused(
      1,
      `the end of the journal in ${home.dir} is not valid`,
      'see why: devmgr daemon audit --verify',
    );
  await print(io.stdout, options.json ? `${JSON.stringify(head)}\n` : `${head.id}:${head.mac}\n`);
  return 0;
}

/** A head that `--head` has printed. */
function givenHead(text: string): JournalAnchor {
  const colon = text.indexOf(':');
  const id = Number(text.slice(0, colon));
  const mac = text.slice(colon + 1);
  if (colon < 1 || !Number.isSafeInteger(id) || id < 1 || mac === '')
    throw new StartRefused(
      2,
      `${text} is not a head of a journal`,
      'give the output of devmgr daemon audit --head: ID:MAC',
    );
  return { id, mac, source: 'the given head' };
}

async function list(reader: RegistryReader, options: AuditOptions, io: ProgramIo): Promise<number> {
  const filter = await filterOf(reader, options);
  const write = options.json ? ndjson : options.csv ? csv : readable;
  if (write === csv && !(await print(io.stdout, csvHeader))) return 0;
  const { limit, since } = options;
  const last: string[] = [];
  let found = 0;
  for await (const record of entries(reader, filter)) {
    found++;
    const text = write(await toAuditLine(reader, record));
    if (limit === null || since !== null) {
      if (!(await print(io.stdout, text))) return 0;
      if (found === limit) return 0;
    } else if (last.push(text) > limit) last.shift();
  }
  if (last.length) await print(io.stdout, last.join(''));
  if (found === 0 && write === readable) io.stderr.write('no entry matches\n');
  return 0;
}

async function* entries(reader: RegistryReader, filter: Omit<EventFilter, 'limit'>): AsyncGenerator<EventRecord> {
  for (let after = filter.after; ; ) {
    const page = await reader.events({ ...filter, after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

async function filterOf(reader: RegistryReader, options: AuditOptions): Promise<Omit<EventFilter, 'limit'>> {
  return {
    ...placesOf(options),
    device: options.device === null ? undefined : await deviceNumber(reader, options.device),
    actor: options.user ? await knownActor(reader, options.user) : undefined,
    types: options.types?.map(typeOf),
  };
}

/** Times of the options exclude the end, those of a store include it. */
const placesOf = ({ since, until = null }: AuditOptions) => ({
  after: since !== null && 'id' in since ? since.id : 0,
  through: until !== null && 'id' in until ? until.id - 1 : undefined,
  from: since !== null && 'time' in since ? since.time.getTime() : undefined,
  to: until !== null && 'time' in until ? until.time.getTime() - 1 : undefined,
});

/** Refuses an unknown type: an empty result would look as if nothing had happened. */
function typeOf(name: string): EntryType {
  const type = entryTypes.find(known => known === name);
  if (type) return type;
  throw new StartRefused(2, `the journal has no entries of type ${name}`, `types are ${entryTypes.join(', ')}`);
}

/** Refuses a name that no device has: an empty result would look as if nothing had happened to it. */
async function deviceNumber(reader: RegistryReader, name: string): Promise<number> {
  const number = deviceIds.parse(name);
  const found = (await reader.devicesBySerial([name])).get(name);
  if (number !== null && (await reader.device(number))) {
    if (!found || found.number === number) return number;
    const other = deviceIds.format(found.number);
    throw new StartRefused(2, `${name} names two devices: ${name}, and ${other}, whose serial number is ${name}`);
  }
  if (!found) throw new StartRefused(5, `no device has the id or serial number ${name}`);
  return found.number;
}

/** Refuses a name that no user has and no entry bears: an empty result would look as if the user had done nothing. */
async function knownActor(reader: RegistryReader, name: string): Promise<string> {
  if (await reader.userByName(name)) return name;
  // Service tokens and users of a restored registry may be in the journal alone.
  if ((await reader.events({ after: 0, actor: name, limit: 1 })).length > 0) return name;
  throw new StartRefused(5, `there is no user ${name}, and the journal has no entry of one`);
}

const ndjson = (line: AuditLine): string => `${JSON.stringify(line)}\n`;

function csv(line: AuditLine): string {
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

/** Digests are for the verification. */
const unread = new Set(['codeDigest', 'passwordDigest']);

/** A line for people. The database may have been changed: escapes keep control characters away from the terminal. */
function readable(line: AuditLine): string {
  const text = entryText(line) ?? fieldsText(line.details);
  const actor = line.user ?? nameWithoutActor(line);
  const subject = `${line.deviceId ?? '-'} ${line.serialNumber ?? ''}`;
  return `${escapedLine(`${line.id}  ${line.timestamp}  ${line.type.padEnd(25)}  ${subject}  ${actor}  ${text}`)}\n`;
}

const fieldsText = (details: AuditLine['details']): string =>
  Object.entries(details)
    .filter(([name, value]) => value !== null && !unread.has(name))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
