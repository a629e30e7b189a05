/** The import of a file of devices, from the choice of the file to its results. */
import { signal } from '@preact/signals';
import { Code } from '../../../src/contract/codes.ts';
import { lineResults } from '../../../src/enrollment/import/batches.ts';
import type { LineResult } from '../../../src/enrollment/import/result.ts';
import type { Defaults, Row } from '../../../src/enrollment/import/row.ts';
import { type DeviceReading, openDevices } from '../../../src/enrollment/import/rows.ts';
import { parseColumns, parseWhere } from '../../../src/tables/choices.ts';
import type { TableColumn } from '../../../src/tables/columns.ts';
import { type InputFault, InvalidInput } from '../../../src/tables/fault.ts';
import type { DeviceField } from '../../../src/tables/fields.ts';
import { likelyPreset, type Preset } from '../../../src/tables/presets.ts';
import { type BatchOptions, BatchRun } from '../../api/batch-run.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import type { Encoding } from '../station/roster-file.ts';
import { batched, bytesOf, type CheckedFile, checkEncoding, checkFile, InvalidEncoding } from './plan.ts';
import { identityOf, runOf, storedRun, storeRun } from './stored.ts';

/** Devices in one request. */
const BATCH = 2000;

interface ImportSettings {
  readonly encoding: Encoding | null;
  /** Empty: columns are known by the names of their fields. */
  readonly preset: Preset | '';
  /** Fields that the person has assigned to columns, by name; null ignores one. */
  readonly chosen: Readonly<Record<string, DeviceField | null>>;
  /** For lines without a value. */
  readonly defaults: Defaults;
  /** `COLUMN=VALUE`: only these lines are read. Absent in runs of an earlier version, as are the others below. */
  readonly where?: string;
  /** Names of the columns of a file without a header row, with commas. */
  readonly columns?: string;
  /** Serial numbers are taken as they are. */
  readonly asIs?: boolean;
}

const plain: ImportSettings = { encoding: null, preset: '', chosen: {}, defaults: {} };

/** An import. */
export class FileImport {
  readonly file = signal<File | null>(null);
  readonly settings = signal<ImportSettings>(plain);
  /** The columns of the file; null before it was read. */
  readonly head = signal<readonly TableColumn<DeviceField>[] | null>(null);
  readonly fault = signal<InputFault | InvalidEncoding | null>(null);
  readonly problem = signal<Problem | null>(null);
  /** Number of rows that were read; null while nothing is read. */
  readonly reading = signal<number | null>(null);
  readonly checked = signal<CheckedFile | null>(null);
  readonly run = signal<BatchRun<Row, LineResult> | null>(null);
  #abort = new AbortController();

  /** Takes a file, with the settings of the run that was not finished, if it is that of this file. */
  async choose(file: File): Promise<void> {
    const stored = storedRun();
    this.file.value = file;
    if (stored?.file === identityOf(file)) await this.set(JSON.parse(stored.settings) as ImportSettings);
    else await this.set(plain, true);
  }

  /** Reads the columns with other settings. With `findPreset`, the file may show which preset is for it. */
  async set(settings: ImportSettings, findPreset = false): Promise<void> {
    this.settings.value = settings;
    this.checked.value = null;
    this.run.value = null;
    await this.#read(async file => {
      const { table } = await openDevices(bytesOf(file), { ...this.#reading(file), where: [], isDraft: true });
      checkEncoding(table);
      const isKeyPackage = table.shape.format === 'pskc';
      this.head.value = isKeyPackage ? [] : table.columns;
      const preset = findPreset && (isKeyPackage ? 'pskc' : likelyPreset(table.columns.map(({ name }) => name)));
      if (preset) await this.set({ ...settings, preset });
    });
  }

  /** Takes settings that do not change how the columns are read. */
  keep(settings: ImportSettings): void {
    this.settings.value = settings;
    this.checked.value = null;
  }

  #reading({ name }: File): DeviceReading {
    const { preset, chosen, encoding, defaults, where = '', columns = '', asIs = false } = this.settings.peek();
    const map = Object.entries(chosen).map(([column, field]) => ({ column, field }));
    return {
      file: name,
      format: null,
      encoding,
      preset: preset || null,
      map,
      where: parseWhere(where.split(';').filter(condition => condition.trim() !== '')),
      columns: columns.trim() === '' ? null : parseColumns(columns),
      defaults,
      asIs,
    };
  }

  /** Assigns a field to a column; null ignores the column. */
  assign(name: string, field: DeviceField | null): void {
    const settings = this.settings.peek();
    void this.set({ ...settings, chosen: { ...settings.chosen, [name]: field } });
  }

  /** Finds out what the import would do. */
  async check(): Promise<void> {
    this.checked.value = null;
    await this.#read(async file => {
      this.reading.value = 0;
      const read = (count: number) => (this.reading.value = count);
      this.checked.value = await checkFile(file, this.#reading(file), this.#abort.signal, read);
    });
  }

  /** Registers the devices that are new. */
  async start(): Promise<void> {
    const [file, checked] = [this.file.peek(), this.checked.peek()];
    if (!file || !checked) return;
    const batches = await batched(checked.rows, BATCH);
    const offsets = batches.map((_, i) => batches.slice(0, i).reduce((sum, { length }) => sum + length, 0));
    let stored = runOf(file, JSON.stringify(this.settings.peek()));
    const before = stored.sent;
    this.run.value = new BatchRun(batches, async (rows, _, options, number) => {
      const from = offsets[number] ?? 0;
      const planned = checked.lines.slice(from, from + rows.length);
      // All devices of a batch are sent again if it was sent before: its response has their activation codes.
      if (number >= before && !planned.some(({ status }) => status === 'new')) return planned;
      stored = { ...stored, sent: Math.max(stored.sent, number + 1) };
      storeRun(stored);
      return register(rows, planned, { ...options, key: `${stored.id}.${number}` });
    });
    await this.continue();
  }

  /** Starts the run, or sends the batch again that has failed. */
  async continue(): Promise<void> {
    const run = this.run.peek();
    await run?.start();
    if (run && run.results.peek().length === run.total) storeRun(null);
  }

  leave(): void {
    this.#abort.abort();
    this.run.peek()?.stop();
  }

  async #read(work: (file: File) => Promise<void>): Promise<void> {
    const file = this.file.peek();
    if (!file) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.fault.value = null;
    this.problem.value = null;
    try {
      await work(file);
    } catch (error) {
      if (error instanceof InvalidInput) this.fault.value = error.fault;
      else if (error instanceof InvalidEncoding) this.fault.value = error;
      else this.problem.value = problemOf(error);
    }
    this.reading.value = null;
  }
}

/** Registers the devices of a batch. A device that was registered before is not a failure: the plan has it. */
async function register(
  rows: readonly Row[],
  planned: readonly LineResult[],
  options: BatchOptions,
): Promise<readonly LineResult[]> {
  const devices = rows.flatMap(row => ('device' in row ? [row.device] : []));
  const { results } = devices.length
    ? await call('batchRegisterDevices', { body: { devices } }, options)
    : { results: [] };
  return lineResults(rows, results).map((result, i) => {
    const line = planned[i];
    return result.code === Code.serialDuplicated && line && line.status !== 'new' ? line : result;
  });
}
