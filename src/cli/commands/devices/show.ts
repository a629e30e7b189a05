import { Code } from '../../../contract/codes.ts';
import { describedNames, describedTexts } from '../../../contract/device-description.ts';
import type { DeviceDetail } from '../../../contract/devices.ts';
import { journalEvent } from '../../../contract/event-types.ts';
import type { Notification } from '../../../contract/events.ts';
import type { Person } from '../../../contract/people.ts';
import { nullIfRefused, ServerRefusal } from '../../client/failures.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { deviceArg, resolveDevice } from '../../framework/devices/device.ts';
import { notifiedFlags, type PastEvents, pastEvents } from '../../framework/devices/event-selection.ts';
import { tagWords } from '../../framework/devices/tags.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { leftWords, personsOf } from '../../framework/persons.ts';
import { type CardRow, present } from '../../framework/present.ts';
import { wrapped } from '../../terminal/card.ts';
import type { Output } from '../../terminal/output.ts';
import { hasUtf8, type Style, statusStyle } from '../../terminal/style.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { duration, localTime, relative, timeAndDistance } from '../../terminal/when.ts';
import { credentialRows } from './credentials.ts';
import { byWhom, wordsOf } from './event-lines.ts';
import { proofRows } from './proof.ts';

/** Shows a device with its history: `GET /api/devices/{deviceId}`. */
export const show = command({
  isPaged: true,
  args: [deviceArg],
  flags: {
    ...pluggedFlag,
    ...notifiedFlags,
    'no-events': { help: 'do not read the events of the journal, which saves a request' },
    qr: { help: 'show the activation code as a QR code', conflicts: ['json'] },
  },
  examples: {
    'by serial number': 'show UK-2026-000001',
    'the attached key': 'show --plugged',
    'the activation code as a QR code': 'show DEV-1 --qr',
  },
  async run({ args, flags }, context) {
    if (flags.qr && context.out.json)
      throw usage('--qr cannot be combined with JSON, YAML or other formats for programs');
    const deviceId = await resolveDevice(context, args[0] ?? flags.device, flags.plugged);
    const isForPeople = !context.globals.json && !context.globals.quiet;
    const { registry } = context;
    const [data, past, credentials] = await Promise.all([
      registry.call('getDevice', { params: { deviceId } }),
      isForPeople && flags.events ? eventsFor(context, deviceId, flags) : null,
      isForPeople ? credentialRows(context, deviceId) : [],
    ]);
    const persons = await personsOf(registry, isForPeople ? [data.userId] : []);
    const rows = [...rowsOf(data, persons.get(data.userId ?? '')), ...credentials];
    await present(context, { data, id: data.deviceId, title: titleOf(data, context), rows });
    if (!isForPeople) return;
    await context.out.text(historyOf(context.out, data, past));
    if (past?.hasMore) context.out.notice(`All events: devmgr history ${safe(deviceId)}`);
    if (flags.qr) await showCode(context, data);
  },
});

/** Events that are shown unless `--limit` or `--since` is given. */
const fewEvents = 10;

/** Null if the server refuses all of them: an earlier version has no events of the past. */
async function eventsFor(
  context: Context,
  deviceId: string,
  flags: Parameters<typeof pastEvents>[2],
): Promise<PastEvents | null> {
  const { since, until, type, by, limit = since === undefined ? fewEvents : undefined } = flags;
  const events = pastEvents(context, deviceId, { since, until, type, by, limit });
  const isSelected = [since, until, by, type[0]].some(value => value !== undefined);
  return isSelected ? events : nullIfRefused(events);
}

function titleOf(device: DeviceDetail, { out }: Context): string {
  return `${safe(device.deviceId)}  ${out.paint(statusStyle(device.status), safe(device.status))}`;
}

function rowsOf(device: DeviceDetail, person: Person | undefined): CardRow[] {
  const { statistics } = device;
  const name = person?.name ?? device.userName;
  const bound = [device.userId, name && `(${name})`, person?.email ?? device.userEmail].filter(Boolean).join(' ');
  const left = person && leftWords(person);
  const expires = device.activationCodeExpiresAt ? ` (valid until ${localTime(device.activationCodeExpiresAt)})` : '';
  const isRetired = device.status === 'DEACTIVATED';
  const note = device.note === null ? null : safeProse(device.note).trim();
  return [
    ['type', safe(device.deviceType)],
    ['serial number', safe(device.serialNumber)],
    ...describedNames.map((name): CardRow => [describedTexts[name].label, safe(device[name])]),
    ['user', bound ? safe(left ? `${bound}, ${left}` : bound) : null],
    // Nothing can use the code of a retired device.
    ['activation code', isRetired || device.activationCode === null ? null : safe(device.activationCode + expires)],
    ['lock reason', safe(device.lockReason)],
    ['note', note],
    ['tags', tagWords(device).join('\n') || null],
    ...proofRows(device),
    [
      'used',
      statistics.totalUsageCount
        ? `${safe(String(statistics.totalUsageCount))} times, ${duration(statistics.totalUsageDuration)} in total`
        : null,
    ],
    [
      'backups',
      statistics.backupCount
        ? `${safe(String(statistics.backupCount))}, the last one ${timeAndDistance(statistics.lastBackupAt ?? '')}`
        : null,
    ],
  ];
}

async function showCode({ out, env }: Context, device: DeviceDetail): Promise<void> {
  const { activationCode: code } = device;
  if (code === null)
    throw new ServerRefusal(Code.noPermission, `the activation code of ${device.deviceId} is not visible to your role`);
  const isAscii = out.io.stdoutIsTerminal && !hasUtf8(env);
  await out.text(`\n${isAscii ? await asciiQr(code) : await blockQr(code)}\n${safe(code)}\n`);
}

/** Light modules around the code, so that it can be scanned from a dark screen. */
const border = 2;

const blockQr = async (code: string): Promise<string> => (await import('uqr')).renderUnicodeCompact(code, { border });

/** Drawn in ASCII: a module is two cells wide, as high as it is wide, and light ones are filled. */
async function asciiQr(code: string): Promise<string> {
  const { data } = (await import('uqr')).encode(code, { border });
  return data.map(row => row.map(isDark => (isDark ? '  ' : '##')).join('')).join('\n');
}

/** A step with its time. Without a time it has not happened. */
interface HistoryStep {
  readonly time: string | null;
  readonly words: string;
  /** Who did it; absent if that is not known. */
  readonly who?: string;
  readonly style?: Style | null;
}

/** The history of a device, oldest first: its events, or without them what its details say. */
function historyOf(out: Output, device: DeviceDetail, past: PastEvents | null): string {
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
    { time: device.shippedAt, words: 'sent to its person' },
    { time: device.receivedAt, words: 'arrived' },
    { time: device.updatedAt, words: 'updated' },
  ];
}

function stepOf(event: Notification): HistoryStep {
  const { type, timestamp } = event;
  const row = journalEvent(type);
  const style = row?.status === undefined || row.isFirst ? null : statusStyle(row.status);
  // The type of the device is in the lines above.
  const words = row?.isFirst ? 'registered' : wordsOf(event);
  return { time: timestamp, words, who: byWhom(event), style };
}
