/** An opened HID interface over node-hid's asynchronous handle. */
import type { HIDAsync } from 'node-hid';
import { HardwareError } from '../driver.ts';
import { abortError, withSignal } from '../protocols/deadline.ts';
import { hardwareError } from './native-error.ts';
import type { HidHandle } from './system.ts';

/** A key that sends more than this unasked is broken; what it sent first is dropped. */
const MOST_WAITING = 256;
/** Length of a YubiKey's feature report, and of the report number that the system puts in front of every report. */
const FEATURE_BYTES = 8;
const NUMBER_BYTES = 1;

export function openHandle(device: HIDAsync): HidHandle {
  const reports: Uint8Array[] = [];
  let waiting: { resolve: (report: Uint8Array) => void; reject: (error: HardwareError) => void } | null = null;
  let failure: HardwareError | null = null;
  let reading = false;
  let closing: Promise<void> | null = null;

  const fail = (error: HardwareError): void => {
    failure ??= error;
    waiting?.reject(failure);
    waiting = null;
  };
  const onData = (data: Uint8Array): void => {
    if (waiting !== null) {
      waiting.resolve(data);
      waiting = null;
    } else {
      reports.push(data);
      if (reports.length > MOST_WAITING) reports.shift();
    }
  };
  // A pulled key comes as an `error` event that holds a text; without this listener it would end the process.
  device.on('error', error => fail(hardwareError(error, 'reading from the key')));

  const doing = async <T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    if (signal.aborted) throw abortError(signal, what);
    if (closing !== null) throw new HardwareError('removed', `${what}: it has been closed`);
    try {
      return await withSignal(work(), signal, what);
    } catch (error) {
      throw hardwareError(error, what);
    }
  };

  return {
    async write(report, signal) {
      await doing('writing to the key', signal, () => device.write([0, ...report]));
    },

    read: signal =>
      doing('reading from the key', signal, () => {
        const report = reports.shift();
        if (report !== undefined) return Promise.resolve(report);
        if (failure !== null) return Promise.reject(failure);
        // The reader runs from the first read on, in a thread of its own: an OTP side's key strokes are not for us.
        if (!reading) device.on('data', onData);
        reading = true;
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject };
        });
      }),

    async sendFeature(report, signal) {
      await doing('writing to the key', signal, () => device.sendFeatureReport([0, ...report]));
    },

    getFeature: signal =>
      doing('reading from the key', signal, async () => {
        const report = await device.getFeatureReport(0, FEATURE_BYTES + NUMBER_BYTES);
        return report.length > FEATURE_BYTES ? report.subarray(NUMBER_BYTES) : report;
      }),

    close() {
      closing ??= device.close().catch(() => undefined);
      fail(new HardwareError('removed', 'reading from the key: it has been closed'));
      return closing;
    },
  };
}
