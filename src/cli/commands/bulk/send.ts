/**
 * Sends a batch, and finds out what it changed if the response was lost. A batch is one commit, and each change is an event of
 * the journal. So what an unanswered batch changed are the devices with such an event since the one before it.
 */
import type { DataOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import { eventPage } from '../../../contract/limits.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { BatchOperation } from '../../../contract/values.ts';
import { type Client, newKey } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { Fault } from '../../fault.ts';
import { exportedDevices } from '../devices/export-stream.ts';
import { untilAnswered } from '../import/batch.ts';
import { operations } from './operations.ts';
import type { Item, Target } from './source.ts';

/** What the server returns for an item. */
export type ServerResult = DataOf<Routes['batchUpdate']>['results'][number];

/** One batch. */
export interface Batch {
  readonly client: Client;
  readonly operation: BatchOperation;
  readonly items: readonly Item[];
  /** Fields of every item that does not have its own. */
  readonly common: Readonly<Record<string, unknown>>;
  readonly confirmPassword: string | undefined;
  /** Id of the last event before the batch. */
  readonly head: number;
  /** Called when the batch may have been executed although its response was lost. */
  readonly onLost: () => void;
}

/** Id of the newest event; 0 if there is none. */
export async function newestEvent({ registry }: Context): Promise<number> {
  const { head } = await registry.call('events', { query: { limit: 1 } });
  return Number.isSafeInteger(head) ? head : 0;
}

/** Sends the batch, and again after a pause while the server is unreachable. Results are in the order of the items. */
export async function sendBatch(context: Context, batch: Batch): Promise<readonly ServerResult[]> {
  const { client, items } = batch;
  const results = new Map<number, ServerResult>();
  let lost = false;
  const onLost = () => {
    lost = true;
    batch.onLost();
  };
  const key = newKey();
  await untilAnswered({ client, onLost, notice: text => context.out.notice(text) }, async isSafe => {
    const mustLook = lost && !isSafe;
    if (mustLook) await addEarlier(context, batch, results);
    const open = [...items.keys()].filter(index => !results.has(index));
    if (open.length === 0) return;
    const answered = await send(
      batch,
      open.map(index => items[index]!),
      isSafe ? key : newKey(),
    );
    for (const [at, index] of open.entries()) results.set(index, answered[at]!);
    // The lost request may have been executed between the look at the events and this attempt.
    if (mustLook && answered.some(isFailed)) await addEarlier(context, batch, results);
  });
  return items.map((_, index) => results.get(index)!);
}

const isFailed = ({ status }: ServerResult): boolean => status !== 'success';

async function send(
  { client, operation, common, confirmPassword }: Batch,
  items: readonly Item[],
  key: string,
): Promise<readonly ServerResult[]> {
  const { results } = await client.callKeyed('batchUpdate', key, {
    body: {
      operation,
      items: items.map(({ target: { line: _, ...target }, fields }) => ({ ...target, ...common, ...fields })),
      ...(confirmPassword === undefined ? {} : { confirmPassword }),
    },
  });
  if (results.length !== items.length)
    throw new Fault(
      'failure',
      `the server returned ${results.length} results for ${items.length} devices`,
      'check what was changed: devmgr events',
    );
  return results;
}

async function addEarlier(context: Context, batch: Batch, results: Map<number, ServerResult>): Promise<void> {
  const { operation, head, items } = batch;
  const targets = items.map(({ target }) => target);
  for (const [index, result] of await earlierChanges(context, operation, head, targets)) {
    const known = results.get(index);
    if (known === undefined || isFailed(known)) results.set(index, result);
  }
}

/** The successes among the targets of an unanswered batch, by index. `head` is the id of the last event before the batch. */
export async function earlierChanges(
  context: Context,
  operation: BatchOperation,
  head: number,
  targets: readonly Target[],
): Promise<Map<number, ServerResult>> {
  const found = new Map<number, ServerResult>();
  const changed = await changedSince(context.registry, operation, head);
  if (changed.size === 0) return found;
  const byName = new Map<string, DeviceListItem>();
  for await (const device of exportedDevices(context, {})) {
    if (!changed.has(device.deviceId)) continue;
    byName.set(`id ${device.deviceId}`, device).set(`serial ${device.serialNumber}`, device);
  }
  const taken = new Set<DeviceListItem>();
  for (const [index, { deviceId, serialNumber }] of targets.entries()) {
    const device = byName.get(deviceId === undefined ? `serial ${serialNumber}` : `id ${deviceId}`);
    // A second item for the same device was refused, except that each new code replaces the one before.
    if (device === undefined || (taken.has(device) && operation !== 'GENERATE_CODE')) continue;
    taken.add(device);
    found.set(index, resultOf(device, operation));
  }
  return found;
}

function resultOf({ deviceId, serialNumber, activationCode }: DeviceListItem, operation: BatchOperation): ServerResult {
  const data = operation === 'GENERATE_CODE' ? { deviceId, activationCode } : null;
  const message = 'success: changed by a request whose response was lost';
  return { deviceId, serialNumber, status: 'success', code: 200, message, data };
}

/** The devices with an event of the operation after `head`. */
async function changedSince(registry: Client, operation: BatchOperation, head: number): Promise<Set<string>> {
  const changed = new Set<string>();
  for (let after = head; ; ) {
    const query = { types: operations[operation].event, after, limit: eventPage.max };
    const { list } = await registry.call('events', { query });
    for (const { data } of list as readonly { readonly data: { readonly deviceId?: unknown } }[])
      changed.add(String(data.deviceId));
    const last = (list.at(-1) as { readonly id?: number } | undefined)?.id ?? 0;
    if (list.length < eventPage.max || last <= after) return changed;
    after = last;
  }
}
