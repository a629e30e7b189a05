/** The brake: counts of what leavers and new user names do, and when further ones are held. */
import { leaverBrake } from '../../src/contract/limits.ts';

/** Counts of the last minutes: start of a span of ten seconds, persons ended or renamed in it, and persons held. */
export type LeaverCounts = readonly (readonly [start: number, locked: number, held: number])[];

const SPAN_MS = 10_000;
const sum = (counts: LeaverCounts, of: 1 | 2) => counts.reduce((total, span) => total + span[of], 0);

/** Counts that matter at `now`: of spans that ended within the time. Spans of a clock that was ahead count until they end. */
export const recentCounts = (counts: LeaverCounts, now: number): LeaverCounts =>
  counts.filter(([start]) => start + SPAN_MS > now - leaverBrake.minutes * 60_000);

/** The counts with these devices. */
export function withCount(counts: LeaverCounts, now: number, devices: number, isHeld: boolean): LeaverCounts {
  const start = Math.floor(now / SPAN_MS) * SPAN_MS;
  const others = counts.filter(span => span[0] !== start);
  const [, locked, held] = counts.find(span => span[0] === start) ?? [start, 0, 0];
  return [...others, isHeld ? [start, locked, held + devices] : [start, locked + devices, held]];
}

/** Whether `more` of a kind must wait for a release. `all`: their total, including those that ended within the time of the brake. */
const exceeds = (recent: LeaverCounts, more: number, all: number): boolean => {
  const concerned = sum(recent, 1) + sum(recent, 2) + more;
  return concerned >= leaverBrake.least && concerned > leaverBrake.share * all;
};

/** Totals that the brake compares with: ACTIVE devices of the registry now, and accounts, disabled ones included. */
export interface BrakeTotals {
  readonly activeDevices: number;
  readonly accounts: number;
}

/** Persons ended or held within the last minutes, by kind. The key is the number of the row. */
export const brakeRows = { devices: 1, accounts: 2, names: 3 } as const;
/** The counts of each kind. */
export type BrakeCounts = Readonly<Record<keyof typeof brakeRows, LeaverCounts>>;

/** Whether a leave that ends this many ACTIVE devices and accounts must wait for a release. A leave that ends neither does not count. */
export const isLeaveHeld = (
  { devices, accounts }: Omit<BrakeCounts, 'names'>,
  ended: { readonly devices: number; readonly accounts: number },
  totals: BrakeTotals,
): boolean =>
  // While devices are held, leavers who have only an account are held too: one mistake concerns both.
  (ended.devices + ended.accounts > 0 && exceeds(devices, ended.devices, totals.activeDevices + sum(devices, 1))) ||
  (ended.accounts > 0 && exceeds(accounts, ended.accounts, totals.accounts));

/** Whether a new user name must wait for a release. `affected`: the ACTIVE devices that show it, and the accounts that it disables. */
export const isNameHeld = (recent: LeaverCounts, affected: number, { activeDevices, accounts }: BrakeTotals): boolean =>
  affected > 0 && exceeds(recent, affected, activeDevices + accounts);
