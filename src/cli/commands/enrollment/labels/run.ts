/** A run that prints labels: one result per device. */
import type { Context } from '../../../framework/context.ts';
import { count, counted } from '../../../framework/count.ts';
import { Fault, interrupted } from '../../../framework/fault.ts';
import { errorAfter } from '../../../jobs/send.ts';
import { safe } from '../../../terminal/text.ts';
import { RunRecord } from '../../many/bulk/record.ts';
import { type BulkResult, writerOf } from '../../many/bulk/results.ts';
import type { Target } from '../../many/bulk/source.ts';
import { notify } from '../../many/import/start.ts';
import { type Found, findDevices, type Named } from './devices.ts';
import type { LabelOutput } from './outputs.ts';

/** What is printed, and where the results go. */
interface LabelRun extends Named {
  readonly output: LabelOutput;
  /** Whether standard output is the labels themselves. */
  readonly isDry: boolean;
  readonly out: string | undefined;
  readonly resume: boolean;
}

/** The result for one device, with the ZPL of a dry run. */
type LabelResult = BulkResult & { readonly zpl?: string };

/** Prints the labels. Throws a fault of kind `partial` if some failed, and of kind `hardware` if the printer failed. */
export async function printLabels(context: Context, run: LabelRun): Promise<void> {
  const { out, resume } = run;
  const { json: asJson } = context.globals;
  const record = out === undefined ? null : new RunRecord({ out, operation: 'LABEL', resume, asJson });
  try {
    await record?.open();
    await new Labels(context, run, record).print();
  } catch (error) {
    record?.discard();
    throw error;
  } finally {
    record?.close();
    context.out.end();
  }
}

class Labels {
  readonly #context: Context;
  readonly #run: LabelRun;
  readonly #record: RunRecord | null;
  readonly #write: (result: LabelResult) => Promise<void>;
  #printed = 0;
  #failed = 0;

  constructor(context: Context, run: LabelRun, record: RunRecord | null) {
    this.#context = context;
    this.#run = run;
    this.#record = record;
    const writer = writerOf(context, record !== null || run.isDry);
    this.#write = result => writer.write([result]);
  }

  async print(): Promise<void> {
    const isDone = (target: Target) => this.#record?.hasChanged(target) ?? false;
    const { devices, unregistered } = await findDevices(this.#context, this.#run, isDone);
    if (unregistered > 0)
      notify(
        this.#context,
        `${counted(unregistered, 'row')} ${unregistered === 1 ? 'is' : 'are'} skipped: enroll registered no key for ${unregistered === 1 ? 'it' : 'them'}.`,
      );
    try {
      for (const found of devices) {
        if (this.#context.io.interrupt.aborted) throw interrupted();
        await this.#one(found, isDone);
      }
      const waits = await this.#run.output.finish();
      if (waits !== null) this.#context.out.warn(safe(waits));
      this.#record?.finish();
    } catch (error) {
      throw this.#withProgress(error, devices.length);
    }
    this.#summary();
  }

  async #one(found: Found, isDone: (target: Target) => boolean): Promise<void> {
    const { device, problem } = found;
    const target = { ...found.target, ...(device && { deviceId: device.deviceId, serialNumber: device.serialNumber }) };
    // A file can name a device by its serial number, and the results of an earlier run by its deviceId.
    if (isDone(target)) return;
    if (device === null)
      return this.#keep({ ...target, operation: 'LABEL', status: 'failed', ...problem!, data: null });
    try {
      const zpl = await this.#run.output.add(device);
      const message = this.#run.output.done;
      await this.#keep({
        ...target,
        operation: 'LABEL',
        status: 'success',
        message,
        data: null,
        ...(zpl !== null && { zpl }),
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const isEnd = error.kind === 'hardware';
      await this.#keep({ ...target, operation: 'LABEL', status: 'failed', message: error.message, data: null }, isEnd);
      if (isEnd) throw error;
    }
  }

  /** `isEnd`: the error of the command has the message. */
  async #keep(result: LabelResult, isEnd = false): Promise<void> {
    const { zpl: _, ...stored } = result;
    this.#record?.write([stored]);
    if (result.status === 'success') this.#printed++;
    else this.#failed++;
    const isOnScreen = isEnd || (this.#run.isDry && result.status === 'success');
    if (this.#context.globals.json || !isOnScreen) await this.#write(result);
  }

  /** The error, with what was printed before it. */
  #withProgress(error: unknown, total: number): unknown {
    if (total <= 1 || this.#printed + this.#failed === 0) return error;
    const left = total - this.#printed;
    const upTo = `${labels(this.#printed)} ${this.#printed === 1 ? 'was' : 'were'} printed before that, ${count(left)} not`;
    const hint = this.#record && `${(error as Fault).hint ?? 'fix it'}, then repeat the command with --resume`;
    return errorAfter(error, upTo, hint);
  }

  #summary(): void {
    const total = this.#printed + this.#failed;
    if (this.#failed > 0)
      throw new Fault(
        'partial',
        `${count(this.#failed)} of ${labels(total)} failed`,
        'each failure has a reason; fix it and repeat the command for those devices',
      );
    const { done } = this.#run.output;
    notify(this.#context, total === 0 ? 'Nothing to print.' : `${labels(total)} ${done}.`);
  }
}

const labels = (amount: number): string => counted(amount, 'label');
