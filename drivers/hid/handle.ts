/** An open HID interface on node-hid's asynchronous handle. */
import type { HIDAsync } from 'node-hid';
import { abortError, withSignal } from '../deadline.ts';
import { HardwareError } from '../hardware-error.ts';
import { FEATURE_REPORT_BYTES } from '../protocols/otp-reports.ts';
import { hardwareError } from './errors.ts';
import type { HidHandle } from './system.ts';

/** Unread reports that are stored. A key that sends more without being asked is broken; the oldest are dropped. */
const MAX_UNREAD = 256;
/** The system puts a report number in front of every report. Keys use only number 0. */
const REPORT_NUMBER = 0;
const REPORT_NUMBER_BYTES = 1;

const READING = 'reading from the key';
const WRITING = 'writing to the key';

/** Wraps an open node-hid handle and takes ownership of it. */
export class NodeHidHandle implements HidHandle {
  readonly #device: HIDAsync;
  readonly #unread: Uint8Array[] = [];
  #reader: PromiseWithResolvers<Uint8Array> | null = null;
  #failure: HardwareError | null = null;
  #listening = false;
  #closing: Promise<void> | null = null;

  constructor(device: HIDAsync) {
    this.#device = device;
    // Unplugging emits `error` with a text. Without this listener it would end the process.
    device.on('error', error => this.#fail(hardwareError(error, READING)));
  }

  async write(report: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.#call(WRITING, signal, () => this.#device.write([REPORT_NUMBER, ...report]));
  }

  read(signal: AbortSignal): Promise<Uint8Array> {
    return this.#call(READING, signal, () => this.#nextReport());
  }

  async sendFeature(report: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.#call(WRITING, signal, () => this.#device.sendFeatureReport([REPORT_NUMBER, ...report]));
  }

  getFeature(signal: AbortSignal): Promise<Uint8Array> {
    return this.#call(READING, signal, async () => {
      const report = await this.#device.getFeatureReport(REPORT_NUMBER, FEATURE_REPORT_BYTES + REPORT_NUMBER_BYTES);
      return report.length > FEATURE_REPORT_BYTES ? report.subarray(REPORT_NUMBER_BYTES) : report;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#device.close().catch(() => undefined);
    this.#fail(new HardwareError('removed', `${READING}: the key was closed`));
    return this.#closing;
  }

  async #call<T>(what: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw abortError(signal, what);
    if (this.#closing !== null) throw new HardwareError('removed', `${what}: the key was closed`);
    try {
      return await withSignal(call(), signal, () => abortError(signal, what));
    } catch (error) {
      throw hardwareError(error, what);
    }
  }

  #nextReport(): Promise<Uint8Array> {
    const report = this.#unread.shift();
    if (report !== undefined) return Promise.resolve(report);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    // node-hid's reading thread starts with the first read: the key strokes of an OTP interface must not be read.
    if (!this.#listening) this.#device.on('data', data => this.#receive(data));
    this.#listening = true;
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  #receive(report: Uint8Array): void {
    if (this.#reader !== null) {
      this.#reader.resolve(report);
      this.#reader = null;
      return;
    }
    this.#unread.push(report);
    if (this.#unread.length > MAX_UNREAD) this.#unread.shift();
  }

  #fail(error: HardwareError): void {
    this.#failure ??= error;
    this.#reader?.reject(this.#failure);
    this.#reader = null;
  }
}
