/** A run that prints labels: one result per device. */
import { count, counted } from '../../../count.ts';
import { Fault } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { JobRun } from '../../../jobs/job-run.ts';
import { safe } from '../../../terminal/text.ts';
import {
  type BulkFiles,
  type BulkProgress,
  type BulkResult,
  bulkFiles,
  changedBefore,
  namesOf,
  writerOf,
} from '../../many/bulk/results.ts';
import type { Target } from '../../many/bulk/source.ts';
import { type DeviceChoice, type FoundLabelDevice, findDevices } from './devices.ts';
import type { LabelOutput } from './outputs.ts';

/** The labels of a run, and where its results go. */
interface Run extends DeviceChoice {
  readonly output: LabelOutput;
  /** Whether standard output is the labels themselves. */
  readonly isDry: boolean;
  readonly out: string | undefined;
  readonly resume: boolean;
}

/** The result for one device, with the ZPL of a dry run. */
type Result = BulkResult & { readonly zpl?: string };

/** Prints the labels. Throws a fault of kind `partial` if some failed, and of kind `hardware` if the printer failed. */
export async function printLabels(context: Context, run: Run): Promise<void> {
  const files = bulkFiles(context, 'LABEL', run);
  try {
    const changed = files !== null && run.resume ? await changedBefore(files, 'LABEL') : new Set<string>();
    files?.open();
    await new Labels(context, run, files, changed).print();
  } catch (error) {
    files?.discard();
    throw error;
  } finally {
    files?.close();
  }
}

class Labels {
  readonly #context: Context;
  readonly #labels: Run;
  /** Names of the devices whose labels an earlier run has printed. */
  readonly #done: ReadonlySet<string>;
  readonly #run: JobRun<Result, BulkProgress>;
  /** Of the longest deviceId, so that the columns are in line. */
  #idWidth = 0;
  #printed = 0;
  #failed = 0;
  /** Labels of a sheet that is not written yet. */
  readonly #unwritten: Result[] = [];

  constructor(context: Context, run: Run, files: BulkFiles | null, done: ReadonlySet<string>) {
    this.#context = context;
    this.#labels = run;
    this.#done = done;
    this.#run = new JobRun(
      context,
      files,
      writerOf(context, files !== null || run.isDry, () => this.#idWidth),
    );
  }

  async print(): Promise<void> {
    const { devices, unregistered } = await findDevices(this.#context, this.#labels, target => this.#isDone(target));
    this.#idWidth = Math.max(0, ...devices.map(({ device }) => device?.deviceId.length ?? 1));
    if (unregistered > 0)
      notify(
        this.#context,
        `${counted(unregistered, 'row')} ${unregistered === 1 ? 'is' : 'are'} skipped: enroll registered no key for ${unregistered === 1 ? 'it' : 'them'}.`,
      );
    await this.#run.run({
      batches: this.#each(devices),
      carryOut: found => this.#one(found),
      done: () => this.#doneWords(devices.length),
      hint: error => `${(error as Fault).hint ?? 'fix it'}, then repeat the command with --resume`,
    });
    this.#summary();
  }

  async *#each(devices: readonly FoundLabelDevice[]): AsyncGenerator<FoundLabelDevice> {
    yield* devices;
    const waits = await this.#labels.output.finish();
    for (const result of this.#unwritten) await this.#keep(result);
    if (waits !== null) this.#context.out.warn(safe(waits));
  }

  #isDone(target: Target): boolean {
    return namesOf(target).some(name => this.#done.has(name));
  }

  async #one(found: FoundLabelDevice): Promise<void> {
    const { device, problem } = found;
    const target = { ...found.target, ...(device && { deviceId: device.deviceId, serialNumber: device.serialNumber }) };
    // A file can name a device by its serial number, and the results of an earlier run by its deviceId.
    if (this.#isDone(target)) return;
    if (device === null)
      return this.#keep({ ...target, operation: 'LABEL', status: 'failed', ...problem!, data: null });
    try {
      const zpl = await this.#labels.output.add(device);
      const { done: message, isWritten } = this.#labels.output;
      const success = { ...target, operation: 'LABEL', status: 'success', message, data: null } as const;
      if (isWritten === 'at the end') this.#unwritten.push(success);
      else await this.#keep({ ...success, ...(zpl !== null && { zpl }) });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const isEnd = error.kind === 'hardware';
      await this.#keep({ ...target, operation: 'LABEL', status: 'failed', message: error.message, data: null }, isEnd);
      if (isEnd) throw error;
    }
  }

  /** `isEnd`: the error of the command has the message. */
  async #keep(result: Result, isEnd = false): Promise<void> {
    const { zpl: _, ...stored } = result;
    this.#run.keep([stored], { pending: null });
    if (result.status === 'success') this.#printed++;
    else this.#failed++;
    const isOnScreen = isEnd || (this.#labels.isDry && result.status === 'success');
    if (this.#context.globals.json || !isOnScreen) await this.#run.show([result], { pending: null });
  }

  /** The labels that were printed before an error; null if there is nothing to continue. */
  #doneWords(total: number): string | null {
    if (total <= 1 || this.#printed + this.#failed === 0) return null;
    return `${labels(this.#printed)} ${this.#printed === 1 ? 'was' : 'were'} printed before that, ${count(total - this.#printed)} were not`;
  }

  #summary(): void {
    const total = this.#printed + this.#failed;
    if (this.#failed > 0)
      throw new Fault(
        'partial',
        `${count(this.#failed)} of ${labels(total)} failed`,
        'each failure has a reason; fix it and repeat the command for those devices',
      );
    const { done } = this.#labels.output;
    notify(this.#context, total === 0 ? 'Nothing to print.' : `${labels(total)} ${done}.`);
  }
}

const labels = (amount: number): string => counted(amount, 'label');
