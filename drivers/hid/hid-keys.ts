/** All keys that are plugged in: compares each listing with the one before, has new keys asked, and tells the changes. */
import type { AttachedKey, DriverOptions, DriverStatus, KeyEvent } from '../driver.ts';
import { HardwareError } from '../driver.ts';
import { pause } from '../protocols/deadline.ts';
import { type Identity, identify } from '../protocols/ukey/identify.ts';
import { isSecurityKey, type UsbMatch } from './known.ts';
import { type CardSide, Plugging } from './plugging.ts';
import { Rescan } from './rescan.ts';
import { Slots } from './semaphore.ts';
import type { HidSystem, HidWatch } from './system.ts';
import { groupUnits, type Unit } from './units.ts';

/** How long a new key may be half there or not yet permitted before it is given up on. */
const PATIENCE = 5_000;
/** The same where a serial is there already, if not from the best source, or where the key answers what it should not. */
const PATIENCE_SHORT = 1_000;
/** The same for a key that does not answer: long enough to ask twice. */
const PATIENCE_WITH_SILENCE = 2_500;
/** In this time a new key's sides come, one after the other: asking the lesser ones meanwhile would take longer. */
const APPEARING = 1_000;
/** Time for one source of one key. */
const ASK_LIMIT = 2_000;
/** First and longest wait before a key is asked again. */
const RETRY_FIRST = 60;
const RETRY_LONGEST = 800;
/** Wait between looks at a key that was given up on but may yet be permitted or let go by another program. */
const LOOK_AGAIN = 2_000;
/** Keys asked at once; the native calls share four threads with the rest of the program. */
const ASKED_AT_ONCE = 4;

const PACE_WITH_EVENTS = 2_000;
const PACE_WITHOUT_EVENTS = 500;
const PACE_UNAVAILABLE = 10_000;

function patienceWith({ verdict, unsettled, provisional }: Identity): number {
  if (provisional) return PATIENCE;
  if (verdict.serial !== null || unsettled?.code === 'protocol') return PATIENCE_SHORT;
  return unsettled?.code === 'timeout' ? PATIENCE_WITH_SILENCE : PATIENCE;
}

interface KeyringParts extends DriverOptions {
  readonly notice: NonNullable<DriverOptions['notice']>;
  readonly system: HidSystem;
  readonly match: readonly UsbMatch[];
  readonly cardSide?: CardSide;
  readonly listener: (event: KeyEvent) => void;
}

export class Keyring {
  status: DriverStatus = { name: 'hid', state: 'unavailable', detail: 'USB keys are being looked for' };
  readonly #parts: KeyringParts;
  readonly #plugged = new Map<string, Plugging>();
  readonly #slots = new Slots(ASKED_AT_ONCE);
  readonly #rescan: Rescan;
  readonly #looks = new Set<Promise<void>>();
  #watch: HidWatch | null = null;
  #started: Promise<void> | null = null;
  #stopped = false;
  /** True when something was found that no event had announced: then events are not to be counted on. */
  #eventsMissed = false;
  #firstScan = true;

  constructor(parts: KeyringParts) {
    this.#parts = parts;
    this.#rescan = new Rescan(
      hinted => this.#scan(hinted),
      () => this.#pace(),
    );
  }

  keys(): readonly AttachedKey[] {
    return [...this.#plugged.values()].map(one => one.published).filter(key => key !== null);
  }

  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const one of this.#plugged.values()) one.gone.abort();
    await this.#started;
    await Promise.all([this.#watch?.stop(), this.#rescan.stop(), ...this.#looks]);
    this.#plugged.clear();
  }

  async #start(): Promise<void> {
    this.#watch = await this.#parts.system.watch(() => {
      this.#eventsMissed = false;
      // udev tells of a device when its permissions are set.
      for (const one of this.#plugged.values()) one.wake?.();
      this.#rescan.hint();
    });
    this.#parts.cardSide?.onArrival(() => this.#cardSideCame());
    await this.#rescan.now();
    this.#firstScan = false;
    await Promise.all(this.#looks);
  }

  #pace(): number {
    if (this.status.state === 'unavailable') return PACE_UNAVAILABLE;
    return this.#watch?.events === true && !this.#eventsMissed ? PACE_WITH_EVENTS : PACE_WITHOUT_EVENTS;
  }

  async #scan(hinted: boolean): Promise<void> {
    try {
      const units = groupUnits(await this.#parts.system.list());
      if (this.#stopped) return;
      const changed = this.#compare(units);
      if (changed && !hinted && !this.#firstScan) this.#eventsMissed = true;
      this.#setStatus('ready', this.#watchDetail());
    } catch (error) {
      const text = error instanceof HardwareError ? error.message : `USB keys cannot be listed: ${String(error)}`;
      this.#setStatus('unavailable', text);
    }
  }

  #watchDetail(): string {
    return this.#watch?.events === true
      ? 'watching USB HID devices by events'
      : `watching USB HID devices by looking every ${PACE_WITHOUT_EVENTS} ms: no USB events here (is udevd running?)`;
  }

  /** True where something came or went. */
  #compare(units: Map<string, Unit>): boolean {
    let changed = false;
    for (const [id, one] of this.#plugged) {
      if (units.has(id)) continue;
      changed = true;
      this.#plugged.delete(id);
      one.gone.abort();
      if (one.published !== null) this.#tell({ kind: 'detached', key: one.published });
    }
    for (const unit of units.values()) {
      const known = this.#plugged.get(unit.id);
      if (known !== undefined) {
        if (known.unit.shape !== unit.shape) {
          known.stirred = true;
          known.wake?.();
        }
        known.unit = unit;
        if (this.#worthAnotherLook(known)) this.#look(known, 0);
        continue;
      }
      const { vendorId, productId } = unit.device;
      if (!isSecurityKey({ vendorId, productId, usages: unit.interfaces }, this.#parts.match)) continue;
      changed = true;
      const plugging = new Plugging(unit, (this.#parts.now ?? Date.now)(), this.#firstScan ? 0 : APPEARING);
      this.#plugged.set(unit.id, plugging);
      // Nothing lags for a key that was there before the start: a refusal is then no matter of time.
      this.#look(plugging, this.#firstScan ? 0 : PATIENCE);
    }
    return changed;
  }

  #worthAnotherLook(one: Plugging): boolean {
    const unsettled = one.identity?.unsettled ?? null;
    if (one.asking || unsettled === null || one.serial !== null) return false;
    if (one.askedShape !== one.unit.shape) return true;
    const passes = unsettled.code === 'no-permission' || unsettled.code === 'busy';
    return passes && performance.now() - one.askedAt > LOOK_AGAIN;
  }

  /** A smart card side has appeared, and nobody knows yet whose it is. */
  #cardSideCame(): void {
    if (this.#stopped) return;
    for (const one of this.#plugged.values()) {
      if (one.serial !== null || !one.mayTellByCard) continue;
      one.stirred = true;
      one.wake?.();
      if (!one.asking) this.#look(one, 0);
    }
  }

  #look(one: Plugging, patience: number): void {
    one.asking = true;
    const look = this.#askUntilSettled(one, patience)
      .catch(error => {
        if (!one.gone.signal.aborted) this.#parts.notice('a key could not be identified', { error: String(error) });
      })
      .then(() => {
        one.asking = false;
        return one.closed();
      })
      .finally(() => this.#looks.delete(look));
    this.#looks.add(look);
  }

  async #askUntilSettled(one: Plugging, patience: number): Promise<void> {
    const began = performance.now();
    for (let wait = RETRY_FIRST; ; wait = Math.min(wait * 2, RETRY_LONGEST)) {
      one.askedShape = one.unit.shape;
      one.stirred = false;
      const identity = await this.#slots.run(() => this.#ask(one));
      one.askedAt = performance.now();
      if (one.gone.signal.aborted) return;
      const over = one.askedAt >= began + Math.min(patience, patienceWith(identity));
      if (identity.unsettled === null || (over && !one.stirred)) {
        one.identity = identity;
        return this.#publish(one);
      }
      // What appeared while it was asked is asked at once.
      if (!one.stirred) await this.#waitToAsk(one, wait);
    }
  }

  /** So long, or until something about the key has changed. */
  async #waitToAsk(one: Plugging, milliseconds: number): Promise<void> {
    const woken = new Promise<void>(resolve => {
      one.wake = resolve;
    });
    await Promise.race([pause(milliseconds, one.gone.signal), woken]);
    one.wake = null;
  }

  async #ask(one: Plugging): Promise<Identity> {
    const view = one.view(this.#parts);
    const identity = await identify(view, one.gone.signal, ASK_LIMIT);
    if (identity.unsettled?.code === 'removed') this.#rescan.hint();
    return identity;
  }

  async #publish(one: Plugging): Promise<void> {
    // What was opened may by now be the node of another key, in place of this one.
    const asked = one.serial !== null && one.identity?.source !== 'usb-descriptor';
    if (asked || this.#twins(one).length > 0) {
      // Of twins, the other may have been pulled a moment ago, and this be the same key put back.
      await this.#rescan.now();
      if (one.gone.signal.aborted) return;
      const twins = this.#twins(one);
      if (twins.length > 0) for (const each of [...twins, one]) each.shared = true;
      for (const twin of twins) if (twin.published !== null) this.#announce(twin);
    }
    this.#announce(one);
  }

  #twins(one: Plugging): Plugging[] {
    return [...this.#plugged.values()].filter(
      other => other !== one && one.serial !== null && other.serial === one.serial,
    );
  }

  #announce(one: Plugging): void {
    const before = one.published;
    const key = one.describe();
    if (before !== null && JSON.stringify(before) === JSON.stringify(key)) return;
    one.published = key;
    this.#tell({ kind: before === null ? 'attached' : 'changed', key });
  }

  #setStatus(state: DriverStatus['state'], detail: string): void {
    if (this.status.state === state && this.status.detail === detail) return;
    this.status = { name: 'hid', state, detail };
    this.#tell({ kind: 'status', status: this.status });
  }

  #tell(event: KeyEvent): void {
    if (this.#stopped) return;
    try {
      this.#parts.listener(event);
    } catch (error) {
      this.#parts.notice('a listener failed on a key event', { kind: event.kind, error: String(error) });
    }
  }
}
