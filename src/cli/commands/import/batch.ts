/**
 * Sends a batch, and finds its results if the response was lost. A batch is executed as a whole or not at all, and ids ascend. So if
 * a batch is sent twice, a serial number that the second attempt reports as already registered was registered by the first
 * attempt exactly if its id is above all ids from before the batch.
 */
import type { BatchItem, Registration } from '../../../contract/devices.ts';
import { deviceIds } from '../../../contract/ids.ts';
import { paging } from '../../../contract/limits.ts';
import { type Client, newKey } from '../../client/client.ts';
import { Unreachable } from '../../client/failures.ts';
import { findBySerial } from '../devices/find-device.ts';

const retryMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** Up to this many devices are fetched one by one; for more, the list is read from its newest device on. */
const maxLookups = 10;
/** Business code of a serial number that is already registered. */
export const duplicated = 2006;

/** The number in a deviceId; 0 if the text is not a deviceId. */
export const numberOf = (deviceId: string): number => deviceIds.parse(deviceId) ?? 0;

/** The device that the message of a duplicate names; null if none. The serial number before it may look like an id. */
export const namedDevice = (message: string): string | null => message.match(/\bDEV-\d+\b/g)?.at(-1) ?? null;

/** Number of the newest device; 0 if the registry is empty. */
export async function newestDevice(client: Client): Promise<number> {
  const { list } = await client.call('listDevices', { query: { size: 1 } });
  return list[0] ? numberOf(list[0].deviceId) : 0;
}

/** One batch, and what is known about earlier attempts to send it. */
export interface BatchOptions {
  readonly client: Client;
  readonly items: readonly Registration[];
  /** Number of the newest device before this batch was sent for the first time. */
  readonly newest: number;
  /** An interrupted run may have sent it. */
  readonly sentBefore: boolean;
  /** Called when the batch may have been executed although its response was lost. */
  readonly onLost: () => void;
  readonly notice: (text: string) => void;
}

/** Sends the batch, and again after a pause while the server is unreachable. Results are in the order of the items. */
export function sendBatch(options: BatchOptions): Promise<readonly BatchItem[]> {
  let lost = options.sentBefore;
  const onLost = () => {
    lost = true;
    options.onLost();
  };
  const key = newKey();
  return untilAnswered({ ...options, onLost }, async isSafe => {
    const { results } = await options.client.callKeyed('batchRegister', key, { body: { devices: options.items } });
    return lost && !(isSafe && !options.sentBefore) ? await withEarlierSuccesses(options, results) : results;
  });
}

/**
 * Runs `send`, and again after a pause while the server is unreachable. `onLost` is called if a response was lost. `isSafe`: every
 * server that was asked before an attempt accepts idempotency keys, so a repeated request gets the response that was lost.
 */
export async function untilAnswered<T>(
  { client, onLost, notice }: Pick<BatchOptions, 'client' | 'onLost' | 'notice'>,
  send: (isSafe: boolean) => Promise<T>,
): Promise<T> {
  let isSafe = true;
  for (let tries = 0; ; tries++) {
    let isSent = false;
    try {
      isSafe &&= await client.acceptsKeys();
      isSent = true;
      return await send(isSafe);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (isSent && error.maybeDone) onLost();
      const pause = retryMs[tries];
      if (pause === undefined) throw error;
      notice(`${error.message}; retrying in ${pause / 1000} s`);
      await client.pause(pause);
    }
  }
}

/** The results; devices that an earlier attempt registered are successes. */
async function withEarlierSuccesses(
  { client, items, newest }: BatchOptions,
  results: readonly BatchItem[],
): Promise<readonly BatchItem[]> {
  const registered = new Map<number, string>();
  const taken = new Set<string>();
  for (const [index, result] of results.entries()) {
    if (result.status !== 'failed' || (result.code ?? duplicated) !== duplicated) continue;
    const deviceId =
      namedDevice(result.message) ?? (await findBySerial(client, items[index]!.serialNumber)).exact?.deviceId;
    // If a serial number is in the batch twice, the first one was registered and the second one is a duplicate.
    if (!deviceId || numberOf(deviceId) <= newest || taken.has(deviceId)) continue;
    taken.add(deviceId);
    registered.set(index, deviceId);
  }
  const codes = await activationCodes(client, taken);
  return results.map((result, index) => {
    const deviceId = registered.get(index);
    if (deviceId === undefined) return result;
    const activationCode = codes.get(deviceId);
    return {
      serialNumber: result.serialNumber,
      deviceId,
      ...(activationCode ? { activationCode } : {}),
      status: 'success',
      message: 'success',
    };
  });
}

async function activationCodes(client: Client, wanted: ReadonlySet<string>): Promise<Map<string, string>> {
  const codes = new Map<string, string>();
  const note = (deviceId: string, code: string | null) =>
    void (code !== null && wanted.has(deviceId) && codes.set(deviceId, code));
  if (wanted.size <= maxLookups) {
    for (const deviceId of wanted)
      note(deviceId, (await client.call('deviceDetail', { params: { deviceId } })).activationCode);
    return codes;
  }
  const oldest = Math.min(...[...wanted].map(numberOf));
  for (let page = 1; ; page++) {
    const { list } = await client.call('listDevices', { query: { page, size: paging.maxSize } });
    for (const device of list) note(device.deviceId, device.activationCode);
    if (list.length === 0 || list.some(device => numberOf(device.deviceId) <= oldest)) return codes;
  }
}
