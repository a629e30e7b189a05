import { setTimeout as after } from 'node:timers/promises';
import type {
  AssertionRequest,
  AttachedKey,
  Driver,
  DriverOptions,
  DriverStatus,
  KeyEvent,
  KeyEvidence,
  Notice,
  ProofRequest,
  ProofWork,
  RecognizedKey,
} from '../driver.ts';
import { notAttached } from '../hardware-error.ts';
import type { IssuedKey, IssueWork } from '../issued-key.ts';
import type { KeyCards } from '../key-cards.ts';
import type { ApduObserver } from './card-session.ts';
import { CardSlot } from './card-slot.ts';
import { toHardwareError } from './errors.ts';
import { KeyReaders } from './key-readers.ts';
import { presenceOf } from './presence.ts';
import { isSecurityKeyReader } from './reader-names.ts';
import { cardReaderProfile, type ReaderProfile } from './reader-profile.ts';
import { ServiceMonitor } from './service-monitor.ts';
import type { Pcsc, PcscReader } from './transport.ts';

/** Options of the PC/SC driver. */
export interface PcscDriverOptions extends DriverOptions {
  /** Milliseconds in which a card has to report its serial. Default 8,000: powering a slow card takes part of them. */
  readonly deadline?: number;
  /** Milliseconds until a failed read is repeated, doubled each time. Default 1,000. */
  readonly retryAfter?: number;
  /** Milliseconds until the next attempt to reach a missing service. Default: 500, growing to 5,000. */
  readonly retryService?: { readonly first: number; readonly most: number };
  /** AIDs of the applications that may report an EID, in hex, in the order of trying. Default: the standard one. */
  readonly euiccApplications?: readonly string[];
  /** Loads the transport. Default: the one that is available. */
  readonly load?: () => Pcsc;
}

/** Milliseconds in which a client reports the readers. It reports nothing if there is none. */
const FIRST_REPORT = 200;
/** Milliseconds after a renewal in which the new client reports the readers that are still there. */
const REPORT_AFTER_RENEWAL = 2_000;
/** Milliseconds that stopping waits for a silent card. */
const MAX_WAIT_AT_STOP = 1_000;

/** The driver of cards and of the smart card interfaces of USB keys. */
export interface PcscDriver extends Driver {
  readonly keyCards: KeyCards;
}

/**
 * SIM cards and other smart cards in PC/SC readers: each insertion is one key. While the service is missing the driver is
 * `unavailable`, and its keys count as detached, because they are not watched. The reader of a USB security key is opened
 * through `keyCards`; if it is the only interface of the key, the key is reported here as a UKEY.
 */
export function createPcscDriver(options: PcscDriverOptions = {}): PcscDriver {
  return new SmartCardDriver(options);
}

class SmartCardDriver implements PcscDriver {
  readonly name = 'pcsc';
  readonly keyCards: KeyCards;
  readonly #options: PcscDriverOptions;
  readonly #notice: Notice;
  readonly #deadline: number;
  readonly #monitor: ServiceMonitor;
  readonly #keyReaders: KeyReaders;
  readonly #slots = new Map<string, CardSlot>();
  /** Slots that the present client has not reported yet, with the number of the renewal since which that is so. */
  readonly #unreported = new Map<CardSlot, number>();
  #renewals = 0;
  #listener: ((event: KeyEvent) => void) | null = null;
  #status: DriverStatus = { name: 'pcsc', state: 'unavailable', detail: 'Not started.' };

  constructor(options: PcscDriverOptions) {
    this.#options = options;
    this.#notice = options.notice ?? (() => undefined);
    this.#deadline = options.deadline ?? 8_000;
    this.#monitor = this.#createMonitor();
    this.#keyReaders = new KeyReaders({
      traffic: this.#traffic,
      onLeak: this.#onLeak,
      onCardOnlyKey: (reader, profile, presence) => this.#slotFor(reader, profile).update(presence),
    });
    this.keyCards = {
      absence: () => (this.#status.state === 'ready' ? null : this.#status.detail),
      open: (key, signal) => this.#keyReaders.open(key, signal),
      onArrival: listener => this.#keyReaders.onArrival(listener),
    };
  }

  status(): DriverStatus {
    return this.#status;
  }

  keys(): readonly AttachedKey[] {
    const keys = [...this.#slots.values()].map(slot => slot.key()).filter(key => key !== null);
    return keys.sort((a, b) => a.attachedAt - b.attachedAt);
  }

  async start(listener: (event: KeyEvent) => void): Promise<void> {
    this.#listener = listener;
    await this.#monitor.start();
    if (this.#status.state !== 'ready') return;
    await after(FIRST_REPORT);
    // A key that another program holds is classified when that program releases it.
    await Promise.race([this.#keyReaders.classified(), after(this.#deadline, undefined, { ref: false })]);
    await Promise.all([...this.#slots.values()].map(slot => slot.idle()));
  }

  prove(keyId: string, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
    return this.#with(keyId, slot => slot.prove(request, work));
  }

  recognize(keyId: string, question: AssertionRequest, signal: AbortSignal): Promise<RecognizedKey | null> {
    return this.#with(keyId, slot => slot.recognize(question, signal));
  }

  issue<T>(keyId: string, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> {
    // An error of the task is passed on as it is.
    const failed = Promise.withResolvers<never>();
    const own = (key: IssuedKey): Promise<T> =>
      task(key).catch(error => {
        failed.reject(error);
        throw error;
      });
    failed.promise.catch(() => undefined);
    return Promise.race([this.#with(keyId, slot => slot.issue(work, own)), failed.promise]);
  }

  async #with<T>(keyId: string, task: (slot: CardSlot) => Promise<T>): Promise<T> {
    const slot = [...this.#slots.values()].find(one => one.key()?.keyId === keyId);
    if (slot === undefined) throw notAttached();
    return task(slot).catch(error => {
      throw toHardwareError(error);
    });
  }

  async stop(): Promise<void> {
    this.#listener = null;
    const slots = [...this.#slots.values()];
    for (const slot of slots) slot.close();
    this.#slots.clear();
    this.#unreported.clear();
    const released = [...slots.map(slot => slot.released()), this.#keyReaders.released()];
    // A key that is classified only now is not reported any more.
    this.#forgetKeyReaders();
    await Promise.race([Promise.all(released), after(MAX_WAIT_AT_STOP, undefined, { ref: false })]);
    await this.#monitor.stop();
    this.#status = { name: 'pcsc', state: 'unavailable', detail: 'Stopped.' };
  }

  #createMonitor(): ServiceMonitor {
    return new ServiceMonitor({
      onReader: reader => this.#onReader(reader),
      onReaderGone: name => this.#onReaderGone(name),
      onChange: (name, raw) => {
        const presence = presenceOf(raw);
        this.#slots.get(name)?.update(presence);
        this.#keyReaders.update(name, presence);
      },
      onLost: () => {
        for (const name of [...this.#slots.keys(), ...this.#keyReaders.names()]) this.#onReaderGone(name);
      },
      onRenewed: () => this.#onRenewed(),
      onStatus: (state, detail) => this.#setStatus(state, detail),
      notice: this.#notice,
      retryService: this.#options.retryService ?? { first: 500, most: 5_000 },
      load: this.#options.load,
    });
  }

  readonly #traffic = (keyId: string, ...[direction, bytes]: Parameters<ApduObserver>): void =>
    this.#options.traffic?.({ driver: 'pcsc', keyId, direction, bytes });

  readonly #onLeak = (cause: unknown): void =>
    this.#monitor.renew(`a connection was not released (${cause instanceof Error ? cause.message : cause})`);

  #onReader(reader: PcscReader): void {
    // While the driver stops, readers that appear are ignored.
    if (this.#listener === null) return;
    const name = reader.name();
    if (isSecurityKeyReader(name)) this.#keyReaders.add(reader);
    else this.#slotFor(reader, cardReaderProfile(name, this.#options.euiccApplications));
  }

  #slotFor(reader: PcscReader, profile: ReaderProfile): CardSlot {
    const name = reader.name();
    const slot = this.#slots.get(name) ?? this.#createSlot(reader, profile);
    slot.rebind(reader);
    this.#unreported.delete(slot);
    this.#slots.set(name, slot);
    return slot;
  }

  #createSlot(reader: PcscReader, profile: ReaderProfile): CardSlot {
    return new CardSlot({
      reader,
      profile,
      now: this.#options.now ?? Date.now,
      deadline: this.#deadline,
      retryAfter: this.#options.retryAfter ?? 1_000,
      emit: event => this.#emit(event),
      notice: this.#notice,
      traffic: this.#traffic,
      onLeak: this.#onLeak,
    });
  }

  #onReaderGone(name: string): void {
    const slot = this.#slots.get(name);
    if (slot !== undefined) {
      slot.close();
      this.#slots.delete(name);
      this.#unreported.delete(slot);
    }
    this.#keyReaders.remove(name);
  }

  #forgetKeyReaders(): void {
    for (const name of this.#keyReaders.names()) this.#keyReaders.remove(name);
  }

  /** No client reports a reader that was unplugged between two clients: the new one just does not list it. */
  #onRenewed(): void {
    this.#forgetKeyReaders();
    const renewal = ++this.#renewals;
    for (const slot of this.#slots.values()) if (!this.#unreported.has(slot)) this.#unreported.set(slot, renewal);
    setTimeout(() => this.#dropUnreported(renewal), REPORT_AFTER_RENEWAL).unref();
  }

  /** Slots of a later renewal have their own time. */
  #dropUnreported(renewal: number): void {
    for (const [slot, since] of this.#unreported) if (since <= renewal) this.#onReaderGone(slot.name);
  }

  #setStatus(state: DriverStatus['state'], detail: string): void {
    if (state === this.#status.state && detail === this.#status.detail) return;
    this.#status = { name: 'pcsc', state, detail };
    this.#emit({ kind: 'status', status: this.#status });
  }

  /** An error of the listener must not reach the native code that delivered the event. */
  #emit(event: KeyEvent): void {
    try {
      this.#listener?.(event);
    } catch (error) {
      this.#notice('a listener of the driver failed', { error: String(error) });
    }
  }
}
