import { randomUUID } from 'node:crypto';
import type { Reader } from 'pcsc-mini';
import { type AttachedKey, HardwareError, type KeyEvent } from '../driver.ts';
import { trackNativeCall } from '../exit.ts';
import type { CardIdentity } from '../protocols/simkey/index.ts';
import { cleanText } from '../text.ts';
import { toHardwareError } from './errors.ts';
import type { Pcsc } from './library.ts';
import type { Presence } from './presence.ts';
import type { Subject } from './reader-profile.ts';
import { untilAborted, withCard } from './session.ts';

export interface SlotParts {
  readonly pcsc: Pcsc;
  readonly reader: Reader;
  readonly now: () => number;
  /** Milliseconds a card has to tell its serial, powering it included. */
  readonly deadline: number;
  /** Milliseconds until a card that could not be read is tried again, the first time; doubled each time after. */
  readonly retryAfter: number;
  readonly subject: Subject;
  readonly emit: (event: KeyEvent) => void;
  readonly traffic: (keyId: string, direction: 'out' | 'in', bytes: Uint8Array) => void;
  readonly notice: (message: string, detail?: Readonly<Record<string, unknown>>) => void;
  readonly onLeak: (cause: unknown) => void;
}

/** One stay of a card in the reader. */
interface Stay {
  readonly keyId: string;
  readonly attachedAt: number;
  presence: Presence;
  /** Aborts when the card is gone. */
  readonly gone: AbortController;
  /** Null until the card was identified or given up on. */
  key: AttachedKey | null;
  failure: HardwareError | null;
  attempts: number;
  retry: NodeJS.Timeout | null;
}

/** A reader and the card in it. Whatever the reader reports, in whatever order, each stay of a card is told once. */
export interface Slot {
  readonly name: string;
  key(): AttachedKey | null;
  update(presence: Presence | null): void;
  /** The same reader, as a new client of the service gives it. */
  rebind(reader: Reader): void;
  /** The reader is gone or no longer watched: the card counts as removed. */
  close(): void;
  /** Settles when nothing is being read. */
  idle(): Promise<void>;
  /** Settles when no native handle is out. Pending for as long as a silent card keeps one. */
  released(): Promise<void>;
}

const MOST_RETRY_AFTER = 30_000;
/** How often a card that seems gone is tried again before that is told as its problem. */
const MOST_BENEFITS_OF_DOUBT = 4;
/** Milliseconds until such a card is tried again, doubled each time: long enough in all for the reader to tell of a removal. */
const RETRY_IN_DOUBT = 150;

export function createSlot(parts: SlotParts): Slot {
  let reader = parts.reader;
  const name = reader.name();
  const shownName = cleanText(name);
  let stay: Stay | null = null;
  let reading: Promise<void> = Promise.resolve();
  // The binding allows a reader one call at a time, and a silent card can hold that call long after we gave up on it.
  let native: Promise<void> = Promise.resolve();

  function begin(presence: Presence): void {
    const gone = new AbortController();
    const keyId = `pcsc-${randomUUID()}`;
    stay = { keyId, attachedAt: parts.now(), presence, gone, key: null, failure: null, attempts: 0, retry: null };
    look(stay);
  }

  function end(): void {
    if (stay === null) return;
    const ended = stay;
    stay = null;
    if (ended.retry) clearTimeout(ended.retry);
    ended.gone.abort(new HardwareError('removed', 'The card was removed while it was read. Insert it again.'));
    if (ended.key) parts.emit({ kind: 'detached', key: ended.key });
  }

  function update(presence: Presence | null): void {
    if (stay && presence?.count !== stay.presence.count) end();
    if (presence === null) return;
    if (stay === null) {
      begin(presence);
      return;
    }
    const before = stay.presence;
    stay.presence = presence;
    const better = (before.taken && !presence.taken) || (before.mute && !presence.mute);
    if (better && stay.failure) look(stay);
  }

  /** Reads the card of this stay when the reader is free, and tells what came out. */
  function look(of: Stay): void {
    if (of.retry) clearTimeout(of.retry);
    of.retry = null;
    reading = reading.then(async () => {
      if (of.gone.signal.aborted) return;
      const outcome = await readOnce(of);
      if (!of.gone.signal.aborted) settle(of, outcome);
    });
  }

  async function readOnce(of: Stay): Promise<CardIdentity | HardwareError> {
    const signal = AbortSignal.any([of.gone.signal, AbortSignal.timeout(parts.deadline)]);
    try {
      if (!(await settlesInTime(native, signal))) return new HardwareError('busy', STUCK);
      const work = withCard(
        parts.pcsc,
        reader,
        { signal, traffic: (way, bytes) => parts.traffic(of.keyId, way, bytes), onLeak: parts.onLeak },
        (connection, atr) => parts.subject.identify(connection, atr, signal),
      );
      native = trackNativeCall(work).then(
        () => undefined,
        () => undefined,
      );
      return await untilAborted(work, signal);
    } catch (error) {
      return toHardwareError(error);
    }
  }

  function settle(of: Stay, outcome: CardIdentity | HardwareError): void {
    of.attempts += 1;
    of.failure = outcome instanceof HardwareError ? outcome : null;
    if (!(outcome instanceof HardwareError) && outcome.remark) parts.notice(outcome.remark, { reader: shownName });
    // A card or a service that has just gone is told by the reader in a moment: no news of this card before.
    const goneInAMoment = of.failure?.code === 'removed' || of.failure?.code === 'unavailable';
    const doubted = goneInAMoment && of.attempts <= MOST_BENEFITS_OF_DOUBT;
    if (!doubted) tell(of, keyOf(of, outcome));
    if (of.failure === null) return;
    const first = doubted ? Math.min(parts.retryAfter, RETRY_IN_DOUBT) : parts.retryAfter;
    of.retry = setTimeout(() => look(of), Math.min(first * 2 ** (of.attempts - 1), MOST_RETRY_AFTER));
  }

  function tell(of: Stay, key: AttachedKey): void {
    const before = of.key;
    of.key = key;
    if (before === null) parts.emit({ kind: 'attached', key });
    else if (before.problem !== key.problem || before.serialNumber !== key.serialNumber) {
      parts.emit({ kind: 'changed', key });
    }
  }

  function keyOf(of: Stay, outcome: CardIdentity | HardwareError): AttachedKey {
    const { subject } = parts;
    const told = outcome instanceof HardwareError ? { ...NOTHING_TOLD, problem: outcome.message } : outcome;
    return {
      keyId: of.keyId,
      deviceType: subject.deviceType,
      serialNumber: told.serialNumber,
      serialSource: told.serialSource,
      manufacturer: cleanText(told.manufacturer ?? subject.manufacturer),
      model: cleanText(told.model ?? subject.model),
      hardwareVersion: null,
      firmwareVersion: cleanText(told.firmwareVersion),
      transport: 'PCSC',
      reader: shownName,
      vendorId: subject.vendorId,
      productId: subject.productId,
      attachedAt: of.attachedAt,
      simulated: false,
      problem: cleanText(told.problem),
    };
  }

  function rebind(again: Reader): void {
    reader = again;
  }

  const key = () => stay?.key ?? null;
  return { name, key, update, rebind, close: end, idle: () => reading, released: () => native };
}

const STUCK =
  'The reader is still busy with a card that fell silent. Unplug the reader and plug it in again; reading is tried again.';

function settlesInTime(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return untilAborted(promise, signal).then(
    () => true,
    () => false,
  );
}

const NOTHING_TOLD = {
  serialNumber: null,
  serialSource: null,
  manufacturer: null,
  model: null,
  firmwareVersion: null,
} as const;
