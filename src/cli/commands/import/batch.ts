/**
 * Sends a batch, and finds out what became of it where its answer was lost: a batch is carried out as a whole or not
 * at all, and ids ascend. So of two sendings of one batch, what the second calls registered already was made by the first
 * exactly where its id is above every id there was before.
 */
import type { BatchItem, Registration } from '../../../contract/devices.ts';
import { deviceIds } from '../../../contract/ids.ts';
import { paging } from '../../../contract/limits.ts';
import type { Client } from '../../client/client.ts';
import { Unreachable } from '../../client/failures.ts';
import { findBySerial } from '../devices/find-device.ts';

const retryMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** So many are looked up one by one; for more the list is read from its newest device on. */
const fewLookups = 10;
const duplicated = 2006;

/** 0 for a text that is no deviceId. */
export const numberOf = (deviceId: string): number => deviceIds.parse(deviceId) ?? 0;

/** Number of the newest device there is; 0 where there is none. */
export async function newestDevice(client: Client): Promise<number> {
  const { list } = await client.call('listDevices', { query: { size: 1 } });
  return list[0] ? numberOf(list[0].deviceId) : 0;
}

export interface BatchOptions {
  readonly client: Client;
  readonly items: readonly Registration[];
  /** Number of the newest device before this batch was sent for the first time. */
  readonly newest: number;
  /** It may have been sent before, by a run that was interrupted. */
  readonly sentBefore: boolean;
  /** Told when the batch may have been carried out without an answer. */
  readonly onLost: () => void;
  readonly notice: (text: string) => void;
}

export async function sendBatch(options: BatchOptions): Promise<readonly BatchItem[]> {
  let lost = options.sentBefore;
  for (let tries = 0; ; tries++) {
    try {
      const { results } = await options.client.call('batchRegister', { body: { devices: options.items } });
      return lost ? await claimed(options, results) : results;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (error.maybeDone) options.onLost();
      lost ||= error.maybeDone;
      const pause = retryMs[tries];
      if (pause === undefined) throw error;
      options.notice(`${error.message}; trying again in ${pause / 1000} s`);
      await options.client.pause(pause);
    }
  }
}

/** The results, with what an earlier sending of the same batch has registered as successes. */
async function claimed(
  { client, items, newest }: BatchOptions,
  results: readonly BatchItem[],
): Promise<readonly BatchItem[]> {
  const ours = new Map<number, string>();
  const taken = new Set<string>();
  for (const [index, result] of results.entries()) {
    if (result.status !== 'failed' || (result.code ?? duplicated) !== duplicated) continue;
    const deviceId =
      /\bDEV-\d+\b/.exec(result.message)?.[0] ??
      (await findBySerial(client, items[index]!.serialNumber)).exact?.deviceId;
    // Of two equal serials in one batch the first was registered; the second is a duplicate for good.
    if (!deviceId || numberOf(deviceId) <= newest || taken.has(deviceId)) continue;
    taken.add(deviceId);
    ours.set(index, deviceId);
  }
  const codes = await activationCodes(client, taken);
  return results.map((result, index) => {
    const deviceId = ours.get(index);
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
  if (wanted.size <= fewLookups) {
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
