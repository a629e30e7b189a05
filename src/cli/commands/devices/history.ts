/** The history of one device, for `devmgr show`. */
import type { DeviceDetail } from '../../../contract/devices.ts';
import type { Notification } from '../../../contract/events.ts';
import type { DeviceStatus } from '../../../contract/values.ts';
import { isServerRefusal } from '../../client/failures.ts';
import type { Context } from '../../framework/context.ts';
import { wrapped } from '../../terminal/card.ts';
import type { Output } from '../../terminal/output.ts';
import { type Style, statusStyle } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { localTime, relative } from '../../terminal/when.ts';
import { wordsOf } from './event-lines.ts';

/** Events that are shown; `devmgr events` has the others. */
const mostEvents = 10;

/** The newest events of a device, the newest last. */
interface PastEvents {
  readonly list: readonly Notification[];
  /** Whether there are earlier ones. */
  readonly hasMore: boolean;
}

/** Null if the server refuses them: an earlier version has no events of the past. */
export async function newestEvents({ registry }: Context, deviceId: string): Promise<PastEvents | null> {
  const query = { deviceId, before: Number.MAX_SAFE_INTEGER, limit: mostEvents + 1 };
  try {
    const { list } = await registry.call('listEvents', { query });
    return { list: list.slice(0, mostEvents).toReversed() as Notification[], hasMore: list.length > mostEvents };
  } catch (error) {
    if (isServerRefusal(error)) return null;
    throw error;
  }
}

/** What happened, and when. Without a time it has not happened. */
interface HistoryStep {
  readonly time: string | null;
  readonly words: string;
  readonly style?: Style | null;
}

/** The history of a device, oldest first: its events, or without them what its details say. */
export function historyOf(out: Output, device: DeviceDetail, past: PastEvents | null): string {
  const uses: HistoryStep[] = [
    { time: device.lastUsedAt, words: 'last used' },
    { time: device.statistics.lastBackupAt, words: 'last backup' },
  ];
  const lines = [...(past?.list.map(stepOf) ?? stepsOf(device)), ...uses]
    .filter((step): step is HistoryStep & { readonly time: string } => typeof step.time === 'string')
    .sort((a, b) => a.time.localeCompare(b.time))
    .map(({ time, words, style = null }) => {
      const before = `    ${localTime(time)}  `;
      const text = wrapped(`${safe(words)} (${relative(time)})`, out.io.columns - before.length);
      return `${before}${text.map(line => out.paint(style, line)).join(`\n${' '.repeat(before.length)}`)}\n`;
    });
  return `  history:\n${lines.join('')}`;
}

function stepsOf(device: DeviceDetail): HistoryStep[] {
  return [
    { time: device.createdAt, words: 'registered' },
    { time: device.activatedAt, words: `activated${device.userId ? ` for ${device.userId}` : ''}` },
    { time: device.lockedAt, words: `locked${device.lockReason ? `: ${device.lockReason}` : ''}` },
    { time: device.deactivatedAt, words: 'deactivated' },
    { time: device.updatedAt, words: 'updated' },
  ];
}

const eventStatus: Readonly<Partial<Record<Notification['type'], DeviceStatus>>> = {
  DEVICE_ACTIVATED: 'ACTIVE',
  DEVICE_UNLOCKED: 'ACTIVE',
  DEVICE_LOCKED: 'LOCKED',
  DEVICE_DEACTIVATED: 'DEACTIVATED',
};

function stepOf(event: Notification): HistoryStep {
  const { type, timestamp } = event;
  const status = eventStatus[type];
  // The type of the device is in the lines above.
  const words = type === 'DEVICE_REGISTERED' ? 'registered' : wordsOf(event);
  return { time: timestamp, words, style: status === undefined ? null : statusStyle(status) };
}
