import { cardNumber } from '../../../../contract/iccid.ts';
import {
  maxPlanned,
  operationOf,
  type PlanAction,
  type PlannedDevice,
  planActions,
} from '../../../../fleet/cleanup.ts';
import { placeWords, type StockRow, type StockState, StockTake, stockStates } from '../../../../fleet/stocktake.ts';
import { serialKey } from '../../../../tables/values.ts';
import { count, counted } from '../../../count.ts';
import { Fault, usage } from '../../../fault.ts';
import { reasonOf } from '../../../framework/ask.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { type ExportedDevice, exportedDevices } from '../../../framework/devices/export-stream.ts';
import { filterFlags, filterOf } from '../../../framework/devices/filter.ts';
import { tagNameOf } from '../../../framework/devices/tags.ts';
import { fileFlag } from '../../../framework/flags.ts';
import { csvFlags } from '../../../framework/format.ts';
import { ResultWriter } from '../../../jobs/result-writer.ts';
import { tableFlags } from '../../../jobs/table-flags.ts';
import { meetServer } from '../../../session/server-identity.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { fittingStates } from '../bulk/operations.ts';
import { checkPlanFile, writePlan } from '../cleanup/plan-file.ts';
import { scannedNumbers } from './scanned.ts';
import { markSeen } from './seen.ts';

const flags = {
  ...filterFlags,
  ...tableFlags(),
  similar: { help: 'match a number to a device even if it differs in case or leading zeros' },
  'seen-tag': { value: 'NAME', help: 'give each scanned device this tag, with the current date as its value' },
  plan: { ...fileFlag('write a plan for the missing devices, for cleanup apply'), needs: 'action' },
  action: { value: 'ACTION', choices: planActions, needs: 'plan', help: 'what the plan does with them' },
  reason: { value: 'TEXT', needs: 'plan', help: 'reason, for the journal; asked for at a terminal' },
  ...csvFlags,
} as const;

/** Lines of each kind that a person sees. */
const mostEach = 20;
const rowsPerWrite = 1_000;
const fields = ['status', 'serialNumber', 'deviceId', 'deviceStatus', 'userId', 'line', 'message'] as const;

/** Compares scanned serial numbers with the devices that should be there. */
export const stocktake = command({
  description:
    'Reads the serial numbers that a scanner has written, one on a line, and compares them with the devices that the filter selects: present, missing, elsewhere (registered, but not selected: in the wrong place), unclear (it differs in case or leading zeros), unknown, or invalid. A number that was scanned twice counts once. Nothing is changed, except with --seen-tag. The exit code is 7 unless everything is present.',
  args: [{ name: 'FILE', help: 'the scanned numbers; - is standard input', offer: 'file' }],
  flags,
  examples: {
    'the keys of a drawer': 'stocktake scans.txt --tag site=berlin --status INACTIVE',
    'all of them as CSV, and a tag for what was seen': 'stocktake scans.txt --tag site=berlin --seen-tag seen --csv',
    'a plan to retire what is missing':
      'stocktake scans.txt --tag site=berlin --plan missing.plan --action deactivate --reason "stock-take of November"',
  },
  async run({ args, flags }, context) {
    const { plan: planFile, action, seenTag } = flags;
    if (context.globals.json && flags.csv) throw usage('--json and --csv cannot be combined');
    if (planFile !== undefined) checkPlanFile(planFile);
    if (seenTag !== undefined) tagNameOf('--seen-tag', seenTag);
    const filter = filterOf(flags);
    const reason = planFile === undefined ? '' : await reasonOf(context, flags.reason);
    const report = new Report(context, flags.csv, action);
    const take = new StockTake({
      acceptsSimilar: flags.similar,
      keyOf: serial => serialKey(cardNumber(serial)),
      placeOf: device => placeWords(filter, device),
    });
    for await (const row of scannedNumbers(context, args[0]!, flags, take)) await report.add(row);
    const createdAt = new Date().toISOString();
    for await (const device of exportedDevices(context, filter)) await report.add(take.expected(device), device);
    if (take.isOpen && Object.keys(filter).length > 0)
      for await (const device of exportedDevices(context, {})) await report.add(take.other(device), device);
    for (const row of take.rest()) await report.add(row);
    await report.end(take.scanned);
    if (seenTag !== undefined) await markSeen(context, report.seen, seenTag);
    if (planFile !== undefined)
      await write(context, report, { file: planFile, action: action!, reason, createdAt, filter });
    return report.exitCode();
  },
});

/** Counts and shows the rows, and keeps what a tag and a plan need. */
class Report {
  readonly counts: Record<StockState, number> = {
    present: 0,
    missing: 0,
    elsewhere: 0,
    unclear: 0,
    unknown: 0,
    invalid: 0,
  };
  /** Devices that were scanned. */
  readonly seen: string[] = [];
  readonly planned: PlannedDevice[] = [];
  readonly #context: Context;
  readonly #writer: ResultWriter<StockRow>;
  readonly #action: PlanAction | undefined;
  #rows: StockRow[] = [];

  constructor(context: Context, asCsv: boolean, action: PlanAction | undefined) {
    this.#context = context;
    this.#action = action;
    this.#writer = new ResultWriter(context, {
      ...{ toFile: false, mostEach, columns: asCsv ? () => fields : null },
      line: row => lineOf(context, row),
    });
  }

  async add(row: StockRow | null, device?: ExportedDevice): Promise<void> {
    if (row === null) return;
    this.counts[row.status]++;
    if (row.deviceId && (row.status === 'present' || row.status === 'elsewhere')) this.seen.push(row.deviceId);
    if (row.status === 'missing' && device !== undefined) this.#plan(device);
    if (row.status !== 'present' || this.#context.globals.json || !this.#context.io.stdoutIsTerminal)
      this.#rows.push(row);
    if (this.#rows.length >= rowsPerWrite) await this.#write();
  }

  #plan({ deviceId, serialNumber, status, userId, activatedAt, lastUsedAt }: ExportedDevice): void {
    if (this.#action === undefined || !fittingStates[operationOf[this.#action]].includes(status)) return;
    if (this.planned.length === maxPlanned)
      throw usage(`more than ${count(maxPlanned)} devices are missing`, 'select fewer devices with more filters');
    this.planned.push({ deviceId, serialNumber, status, userId, activatedAt, lastUsedAt });
  }

  async end(scanned: number): Promise<void> {
    await this.#write();
    const { out, globals } = this.#context;
    if (globals.json) return;
    if (this.#writer.hidden > 0)
      out.notice(`${counted(this.#writer.hidden, 'more line is', 'more lines are')} not shown; --csv writes all.`);
    const found = stockStates.filter(state => this.counts[state] > 0 || state === 'present' || state === 'missing');
    out.notice(
      `${counted(scanned, 'number')} scanned: ${found.map(state => `${count(this.counts[state])} ${state}`).join(', ')}.`,
    );
  }

  async #write(): Promise<void> {
    await this.#writer.write(this.#rows);
    this.#rows = [];
  }

  /** Throws a fault of kind `partial` if anything but present was found. */
  exitCode(): number {
    const others = stockStates.filter(state => state !== 'present' && this.counts[state] > 0);
    if (others.length === 0) return 0;
    throw new Fault(
      'partial',
      `the stock differs from the registry: ${others.map(state => `${count(this.counts[state])} ${state}`).join(', ')}`,
      'each line of the report has a reason',
    );
  }
}

const colors = {
  present: 'green',
  missing: 'red',
  elsewhere: 'yellow',
  unclear: 'yellow',
  unknown: 'red',
  invalid: 'red',
} as const;

function lineOf({ out }: Context, { status, serialNumber, deviceId, line, message }: StockRow): string {
  const where = line === undefined ? '' : `line ${line}: `;
  return `${out.paint(colors[status], status.padEnd(9))}  ${safe(serialNumber ?? '-')}  ${safe(deviceId ?? '')}  ${where}${safe(message)}`;
}

interface PlanOptions {
  readonly file: string;
  readonly action: PlanAction;
  readonly reason: string;
  readonly createdAt: string;
  readonly filter: ReturnType<typeof filterOf>;
}

/** A line that cannot be read may be that of a device that seems to be missing: then there is no plan. */
async function write(context: Context, { counts, planned }: Report, options: PlanOptions): Promise<void> {
  const { file, filter, ...header } = options;
  if (counts.invalid > 0)
    throw usage(
      `${counted(counts.invalid, 'line')} cannot be read: no plan is written`,
      'correct them and run it again',
    );
  const criteria = JSON.parse(JSON.stringify(filter));
  const registry = (await meetServer(context.registry))?.instanceId ?? null;
  writePlan(file, { registry, ...header, criteria, devices: planned });
  notify(
    context,
    `${safe(file)}: ${counted(planned.length, 'device')}. Next: devmgr cleanup apply ${shellWord(safe(file))}`,
  );
}
