/** The history of one device, for `devmgr show`. */
import type { DeviceDetail } from '../../../contract/devices.ts';
import type { Notification } from '../../../contract/events.ts';
import type { DeviceStatus } from '../../../contract/values.ts';
import type { PastEvents } from '../../framework/devices/event-selection.ts';
import { wrapped } from '../../terminal/card.ts';
import type { Output } from '../../terminal/output.ts';
import { type Style, statusStyle } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { localTime, relative } from '../../terminal/when.ts';
import { byWhom, wordsOf } from './event-lines.ts';

/** What happened, and when. Without a time it has not happened. */
interface HistoryStep {
  readonly time: string | null;
  readonly words: string;
  /** Who did it; absent if that is not known. */
  readonly who?: string;
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
    .map(({ time, words, who, style = null }) => {
      const before = `    ${localTime(time)}  `;
      const text = wrapped(
        `${safe(words)} (${[who, relative(time)].filter(Boolean).join(', ')})`,
        out.io.columns - before.length,
      );
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
  return { time: timestamp, words, who: byWhom(event), style: status === undefined ? null : statusStyle(status) };
}
