/** The brake on leavers: counts of the devices that they lock, and when further ones are held. */
import { leaverBrake } from '../../src/contract/limits.ts';

/** What leavers did within the last minutes: the start of a span of ten seconds, devices that were locked in it, and those that were held. */
export type LeaverCounts = readonly (readonly [start: number, locked: number, held: number])[];

const SPAN_MS = 10_000;
const sum = (counts: LeaverCounts, of: 1 | 2) => counts.reduce((total, span) => total + span[of], 0);

/** The counts that still matter at `now`: of spans that ended within the time. Spans of a clock that was ahead count too, until they end. */
export const recentCounts = (counts: LeaverCounts, now: number): LeaverCounts =>
  counts.filter(([start]) => start + SPAN_MS > now - leaverBrake.minutes * 60_000);

/** The counts with these devices. */
export function withCount(counts: LeaverCounts, now: number, devices: number, isHeld: boolean): LeaverCounts {
  const start = Math.floor(now / SPAN_MS) * SPAN_MS;
  const others = counts.filter(span => span[0] !== start);
  const [, locked, held] = counts.find(span => span[0] === start) ?? [start, 0, 0];
  return [...others, isHeld ? [start, locked, held + devices] : [start, locked + devices, held]];
}

/** Whether leaving of a person with so many ACTIVE devices must wait for a release. `active`: ACTIVE devices of the registry now. */
export function isHeldBack(recent: LeaverCounts, devices: number, active: number): boolean {
  const concerned = sum(recent, 1) + sum(recent, 2) + devices;
  const before = active + sum(recent, 1);
  return concerned >= leaverBrake.least && concerned > leaverBrake.share * before;
}
