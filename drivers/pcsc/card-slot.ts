import { randomUUID } from 'node:crypto';
import { deadline, pause } from '../deadline.ts';
import {
  type AssertionRequest,
  type AttachedKey,
  type KeyClaims,
  type KeyEvent,
  type KeyEvidence,
  type Notice,
  type ProofRequest,
  type ProofWork,
  type RecognizedKey,
  unreported,
} from '../driver.ts';
import { trackNativeCall } from '../exit.ts';
import { HardwareError, NOT_ISSUABLE, notAttached } from '../hardware-error.ts';
import type { IssuedKey, IssueWork } from '../issued-key.ts';
import { CLAIMS_AFTER } from '../protocols/claims.ts';
import type { CardConnection } from '../protocols/connection.ts';
import { toHex } from '../protocols/hex.ts';
import { issueKey, TASK_LIMIT } from '../protocols/issue-key.ts';
import type { KeyView } from '../protocols/key-view.ts';
import { ALREADY_TRIED, PROOF_LIMIT, proveKey, RECOGNITION_LIMIT, recognizeKey } from '../protocols/prove-key.ts';
import { cleanText } from '../text.ts';
import { type ApduObserver, type LeakObserver, untilAborted, withCard } from './card-session.ts';
import { toHardwareError } from './errors.ts';
import type { CardPresence } from './presence.ts';
import type { ReaderProfile } from './reader-profile.ts';
import { nextSlotState, type SlotAction, type SlotEvent, type SlotReading, type SlotState } from './slot-state.ts';
import type { PcscReader } from './transport.ts';

/** Dependencies of a slot. */
export interface CardSlotParts {
  readonly reader: PcscReader;
  readonly profile: ReaderProfile;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Milliseconds in which a card has to report its serial, including the time for powering it. */
  readonly deadline: number;
  /** Milliseconds until a failed read is repeated, doubled each time. */
  readonly retryAfter: number;
  readonly emit: (event: KeyEvent) => void;
  readonly traffic: (keyId: string, ...apdu: Parameters<ApduObserver>) => void;
  readonly notice: Notice;
  readonly onLeak: LeakObserver;
}

/** The card that is in the slot. */
interface InsertedCard {
  readonly keyId: string;
  readonly attachedAt: number;
  /** Aborted when the card is removed. */
  readonly removed: AbortController;
  /** As it was last reported; null before the first report. */
  key: AttachedKey | null;
  retry: NodeJS.Timeout | null;
  claims: KeyClaims;
  /** Whether an attempt of SCP11b was made since it was inserted. */
  triedScp11b: boolean;
}

/** The slot of a reader, and the card in it. */
export class CardSlot {
  readonly name: string;
  readonly #parts: CardSlotParts;
  #reader: PcscReader;
  #state: SlotState = null;
  #card: InsertedCard | null = null;
  #reading: Promise<void> = Promise.resolve();
  /** The binding allows one call per reader at a time, and a silent card can occupy it long after its deadline. */
  #nativeCall: Promise<void> = Promise.resolve();

  constructor(parts: CardSlotParts) {
    this.#parts = parts;
    this.#reader = parts.reader;
    this.name = parts.reader.name();
  }

  /** The key as it was last reported; null if there is none. */
  key(): AttachedKey | null {
    return this.#card?.key ?? null;
  }

  /** The reader reports this about its card. */
  update(presence: CardPresence | null): void {
    this.#handle({ kind: 'presence', presence });
  }

  /** Replaces the reader by that of a new client of the service. */
  rebind(reader: PcscReader): void {
    this.#reader = reader;
  }

  /** The reader was unplugged or is no longer watched: its card counts as removed. */
  close(): void {
    this.update(null);
  }

  /** Settles when no card is being read. */
  idle(): Promise<void> {
    return this.#reading;
  }

  /** Settles when no native handle is open. Pending as long as a silent card occupies one. */
  released(): Promise<void> {
    return this.#nativeCall;
  }

  /** Implements `Driver.prove`. Fails with a HardwareError, also if the card is removed in the meantime or does not answer in 30 s. */
  prove(request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
    return this.#withKey(work.signal, PROOF_LIMIT, NO_PROOF, (view, card, signal) => {
      const beforeScp11b = (): void => {
        if (card.triedScp11b) throw new HardwareError('busy', ALREADY_TRIED);
        card.triedScp11b = true;
      };
      const firmwareVersion = card.key?.firmwareVersion ?? null;
      return proveKey({ view, firmwareVersion, beforeScp11b }, request, { ...work, signal });
    });
  }

  /** Implements `Driver.recognize`. */
  recognize(question: AssertionRequest, abort: AbortSignal): Promise<RecognizedKey | null> {
    return this.#withKey(abort, RECOGNITION_LIMIT, NO_PROOF, (view, _card, signal) =>
      recognizeKey(view, question, signal),
    );
  }

  /** Implements `Driver.issue`. */
  issue<T>(work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> {
    return this.#withKey(work.signal, TASK_LIMIT, NOT_ISSUABLE, (view, _card, signal) =>
      issueKey(view, { ...work, signal }, task),
    );
  }

  /** Runs the task with the card as a key, after the reads before it. Rejects with `missing` if it is none. */
  #withKey<T>(
    abort: AbortSignal,
    limit: number,
    missing: string,
    task: (view: KeyView, card: InsertedCard, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const card = this.#card;
    if (card?.key == null) return Promise.reject(notAttached());
    const { key } = card;
    const signal = deadline(AbortSignal.any([abort, card.removed.signal]), limit);
    let begun = false;
    return this.#afterReading(() =>
      this.#use(card, signal, async connection => {
        // After a reset by another program the session begins again, which a task must not.
        if (begun) throw new HardwareError('busy', 'Another program has reset the card. Start again.');
        begun = true;
        const view = this.#parts.profile.viewOf(connection, key);
        if (view === null) throw new HardwareError('unavailable', missing);
        return task(view, card, signal);
      }),
    );
  }

  #handle(event: SlotEvent): void {
    const { state, actions } = nextSlotState(this.#state, event, this.#parts.retryAfter);
    this.#state = state;
    for (const action of actions) this.#perform(action);
  }

  #perform(action: SlotAction): void {
    if (action.do === 'begin') this.#begin();
    const card = this.#card;
    if (card === null) return;
    if (action.do === 'end') this.#end(card);
    if (action.do === 'read') this.#read(card);
    if (action.do === 'retry') card.retry = setTimeout(() => this.#read(card), action.after);
    if (action.do === 'report') this.#report(card, action.change, action.result);
  }

  #begin(): void {
    this.#card = {
      keyId: `pcsc-${randomUUID()}`,
      attachedAt: this.#parts.now(),
      removed: new AbortController(),
      key: null,
      retry: null,
      claims: {},
      triedScp11b: false,
    };
  }

  #end(card: InsertedCard): void {
    this.#card = null;
    if (card.retry) clearTimeout(card.retry);
    card.removed.abort(new HardwareError('removed', 'The card was removed while it was read. Insert it again.'));
    if (card.key) this.#parts.emit({ kind: 'detached', key: card.key });
  }

  /** Reads the card after the reads before it, unless it was removed. */
  #read(card: InsertedCard): void {
    if (card.retry) clearTimeout(card.retry);
    card.retry = null;
    this.#reading = this.#reading.then(async () => {
      if (card.removed.signal.aborted) return;
      const signal = deadline(card.removed.signal, this.#parts.deadline);
      let identified = false;
      try {
        await this.#use(card, signal, async (connection, atr) => {
          const identity = await this.#parts.profile.identify(connection, atr, signal);
          identified = true;
          if (identity.deviceType === 'SIMKEY') card.claims = { ...card.claims, atr: toHex(atr) };
          this.#onResult(card, { identity, failure: null });
          await this.#readClaims(connection, card, signal);
        });
      } catch (error) {
        if (!identified) this.#onResult(card, { identity: null, failure: toHardwareError(error) });
      }
    });
  }

  /** A little after the card was reported, in the same session. A card that cannot be read any more is listed without claims. */
  async #readClaims(connection: CardConnection, card: InsertedCard, signal: AbortSignal): Promise<void> {
    const isKnown = card.key?.deviceType !== 'UKEY' || card.key.serialNumber !== null;
    const found = await pause(isKnown ? CLAIMS_AFTER : 0, signal)
      .then(() => (card.key === null ? {} : this.#parts.profile.readClaims(connection, card.key, signal)))
      .catch(() => ({}));
    if (card.removed.signal.aborted || card.key === null || Object.keys(found).length === 0) return;
    card.claims = { ...card.claims, ...found };
    card.key = { ...card.key, claims: card.claims };
    this.#parts.emit({ kind: 'changed', key: card.key });
  }

  #onResult(card: InsertedCard, result: SlotReading): void {
    if (card.removed.signal.aborted) return;
    const remark = result.identity?.remark;
    if (remark) this.#parts.notice(remark, { reader: cleanText(this.name) });
    this.#handle({ kind: 'read', result });
  }

  /** Runs `work` in a session with the card, when the call before has returned. Fails with a HardwareError. */
  async #use<T>(
    { keyId }: InsertedCard,
    signal: AbortSignal,
    work: (card: CardConnection, atr: Uint8Array) => Promise<T>,
  ): Promise<T> {
    if (!(await settlesInTime(this.#nativeCall, signal))) throw new HardwareError('busy', READER_BUSY);
    const { traffic, onLeak } = this.#parts;
    const options = { signal, onLeak, traffic: (...apdu: Parameters<ApduObserver>) => traffic(keyId, ...apdu) };
    const session = withCard(this.#reader, options, work);
    this.#nativeCall = trackNativeCall(session).then(
      () => undefined,
      () => undefined,
    );
    return untilAborted(session, signal);
  }

  /** One task after the other, and none while the card is read. */
  #afterReading<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#reading.then(task);
    this.#reading = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  #report(card: InsertedCard, change: 'attached' | 'changed', result: SlotReading): void {
    card.key = this.#toAttachedKey(card, result);
    this.#parts.emit({ kind: change, key: card.key });
  }

  #toAttachedKey({ keyId, attachedAt, claims }: InsertedCard, { identity, failure }: SlotReading): AttachedKey {
    const { profile } = this.#parts;
    return {
      keyId,
      deviceType: identity?.deviceType ?? profile.deviceType,
      serialNumber: identity?.serialNumber ?? null,
      serialSource: identity?.serialSource ?? null,
      manufacturer: cleanText(identity?.manufacturer ?? profile.manufacturer),
      model: cleanText(identity?.model ?? profile.model),
      ...unreported,
      firmwareVersion: cleanText(identity?.firmwareVersion),
      transport: 'PCSC',
      reader: cleanText(this.name),
      vendorId: profile.vendorId,
      productId: profile.productId,
      attachedAt,
      simulated: false,
      problem: cleanText(failure?.message ?? identity?.problem),
      claims,
    };
  }
}

const NO_PROOF = 'a card in a reader cannot prove what it is: its answers can be copied';

const READER_BUSY =
  'The reader is still busy with a card that stopped answering. Unplug the reader and plug it in again; reading is tried again.';

function settlesInTime(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return untilAborted(promise, signal).then(
    () => true,
    () => false,
  );
}
