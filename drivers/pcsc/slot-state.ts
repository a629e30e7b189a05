/**
 * The state machine of one reader slot: what a card's coming, going and reading lead to. Pure, so that a table tests it.
 * However often and in whatever order a reader reports, each insertion is reported once.
 */
import type { HardwareError, HardwareErrorCode } from '../hardware-error.ts';
import type { CardIdentity } from '../protocols/key-view.ts';
import type { CardPresence } from './presence.ts';

/** How a read of the card ended. */
export type SlotReading =
  | { readonly identity: CardIdentity; readonly failure: null }
  | { readonly identity: null; readonly failure: HardwareError };

/** The state while a card is in the slot. */
interface Insertion {
  readonly presence: CardPresence;
  /** Number of reads. */
  readonly attempts: number;
  /** Whether the last read failed. */
  readonly failed: boolean;
  /** Last report; null before the first one. */
  readonly reported: ReportedState | null;
}

/** Fields whose change by a later read is reported again. */
interface ReportedState {
  readonly serialNumber: string | null;
  readonly problem: string | null;
}

/** Null: the slot is empty. */
export type SlotState = Insertion | null;

/** Events of a slot. */
export type SlotEvent =
  | { readonly kind: 'presence'; readonly presence: CardPresence | null }
  | { readonly kind: 'read'; readonly result: SlotReading };

/** Actions to carry out, in order. */
export type SlotAction =
  /** A card was inserted: it gets a new keyId. */
  | { readonly do: 'begin' }
  /** The card was removed: cancel its reading and report it as detached if it was reported. */
  | { readonly do: 'end' }
  /** Read the card as soon as the reader is free. */
  | { readonly do: 'read' }
  /** Read the card again after this many milliseconds. */
  | { readonly do: 'retry'; readonly after: number }
  | { readonly do: 'report'; readonly change: 'attached' | 'changed'; readonly result: SlotReading };

/** The next state and what has to be done. */
export interface Transition {
  readonly state: SlotState;
  readonly actions: readonly SlotAction[];
}

/** Longest pause between two reads, in milliseconds. */
const MAX_RETRY_AFTER = 30_000;
/**
 * How often a card with such a failure is read again before the failure is reported: it may be about to leave. pcscd asks a reader
 * every 400 ms whether a card is present, so a card that is pulled while it is powered is mute until then. Three reads take 1,050 ms.
 */
const DOUBTS: Partial<Record<HardwareErrorCode, number>> = { removed: 4, unavailable: 4, mute: 3 };
/** Milliseconds until such a card is read again, doubled each time: in sum long enough for the reader to report a removal. */
const RETRY_IN_DOUBT = 150;

/** `retryAfter`: milliseconds until a failed read is repeated, doubled each time. */
export function nextSlotState(state: SlotState, event: SlotEvent, retryAfter: number): Transition {
  return event.kind === 'presence' ? onPresence(state, event.presence) : onRead(state, event.result, retryAfter);
}

function onPresence(state: SlotState, presence: CardPresence | null): Transition {
  const removed = state !== null && presence?.count !== state.presence.count;
  const end: SlotAction[] = removed ? [{ do: 'end' }] : [];
  if (presence === null) return { state: null, actions: end };
  if (state === null || removed) {
    const inserted: Insertion = { presence, attempts: 0, failed: false, reported: null };
    return { state: inserted, actions: [...end, { do: 'begin' }, { do: 'read' }] };
  }
  const before = state.presence;
  const readable = (before.held && !presence.held) || (before.mute && !presence.mute);
  return { state: { ...state, presence }, actions: readable && state.failed ? [{ do: 'read' }] : [] };
}

function onRead(state: SlotState, result: SlotReading, retryAfter: number): Transition {
  if (state === null) return { state, actions: [] };
  const attempts = state.attempts + 1;
  const next: Insertion = { ...state, attempts, failed: result.failure !== null };
  // If the card or the service has just gone, the reader reports that in a moment: until then report nothing.
  const doubtful = result.failure !== null && attempts <= (DOUBTS[result.failure.code] ?? 0);
  const first = doubtful ? Math.min(retryAfter, RETRY_IN_DOUBT) : retryAfter;
  const after = Math.min(first * 2 ** (attempts - 1), MAX_RETRY_AFTER);
  const retry: SlotAction[] = result.failure === null ? [] : [{ do: 'retry', after }];
  if (doubtful) return { state: next, actions: retry };
  const reported = reportOf(result);
  const change = state.reported === null ? 'attached' : 'changed';
  const report: SlotAction[] = isNews(state.reported, reported) ? [{ do: 'report', change, result }] : [];
  return { state: { ...next, reported }, actions: [...report, ...retry] };
}

function reportOf({ identity, failure }: SlotReading): ReportedState {
  if (failure !== null) return { serialNumber: null, problem: failure.message };
  return { serialNumber: identity.serialNumber, problem: identity.problem };
}

function isNews(before: ReportedState | null, after: ReportedState): boolean {
  return before?.serialNumber !== after.serialNumber || before.problem !== after.problem;
}
