/** All keys that are plugged in: compares each scan with the last one, has new keys identified, and reports the changes. */
import pLimit from 'p-limit';
import type {
  AssertionRequest,
  AttachedKey,
  DriverOptions,
  DriverStatus,
  KeyEvent,
  KeyEvidence,
  Notice,
  ProofRequest,
  ProofWork,
  RecognizedKey,
} from '../driver.ts';
import { HardwareError, type HardwareErrorCode, notAttached } from '../hardware-error.ts';
import type { IssuedKey, IssueWork } from '../issued-key.ts';
import { identifyKey, type KeyIdentity } from '../protocols/identify-key.ts';
import { HidKey, type KeyAccess } from './hid-key.ts';
import { Inquiry, PATIENCE } from './inquiry.ts';
import { KeyTasks } from './key-tasks.ts';
import { isSecurityKey, type UsbMatch } from './known.ts';
import { ScanScheduler } from './scan-scheduler.ts';
import { groupByDevice, type HidDevice, type HidWatch } from './system.ts';

/** Milliseconds in which the interfaces of a new key appear. An early source may be a slow one: the best one is awaited. */
const APPEARING = 1_000;
/** Milliseconds for one source of a serial. */
const SOURCE_LIMIT = 2_000;
/** Keys asked at the same time. Native calls share four threads with the rest of the program. */
const CONCURRENT_KEYS = 4;

/** Milliseconds between two scans without a hint: with events from the system, without them, while unavailable. */
const PACE_WITH_EVENTS = 2_000;
const PACE_WITHOUT_EVENTS = 500;
const PACE_UNAVAILABLE = 10_000;

/** Failures after which any key is asked again. */
const retriable: ReadonlySet<HardwareErrorCode> = new Set(['no-permission', 'busy']);

/** Dependencies of the watch of keys. */
interface HidKeysParts extends KeyAccess, Pick<DriverOptions, 'now'> {
  readonly notice: Notice;
  readonly match: readonly UsbMatch[];
  readonly listener: (event: KeyEvent) => void;
}

interface HidEntry {
  readonly key: HidKey;
  readonly inquiry: Inquiry;
}

/** One run of the HID driver, from start to stop. */
export class HidKeys {
  status: DriverStatus = { name: 'hid', state: 'unavailable', detail: 'looking for USB keys' };
  readonly #parts: HidKeysParts;
  readonly #entries = new Map<HidDevice['id'], HidEntry>();
  readonly #limit = pLimit(CONCURRENT_KEYS);
  readonly #scheduler: ScanScheduler;
  readonly #tasks: KeyTasks;
  readonly #runningInquiries = new Set<Promise<void>>();
  #watch: HidWatch | null = null;
  #started: Promise<void> | null = null;
  #stopped = false;
  /** True after a scan found a change that no event announced: from then on events are not relied on. */
  #eventsMissed = false;
  #firstScan = true;

  constructor(parts: HidKeysParts) {
    this.#parts = parts;
    this.#scheduler = new ScanScheduler(
      hinted => this.#scan(hinted),
      () => this.#pace(),
    );
    this.#tasks = new KeyTasks({
      access: parts,
      identified: async () => void (await Promise.all(this.#runningInquiries)),
      onClaims: key => this.#publish(key),
      rescan: () => this.#scheduler.scanNow(),
    });
  }

  /** The reported keys that are still plugged in. */
  keys(): readonly AttachedKey[] {
    return this.#keys().flatMap(key => key.reported ?? []);
  }

  /** Resolves after the first scan and the identification of the keys it found. Never rejects. Idempotent. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** As in Driver. */
  async prove(keyId: string, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
    return this.#tasks.prove(this.#attached(keyId), request, work);
  }

  /** As in Driver. */
  async issue<T>(keyId: string, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> {
    return this.#tasks.issue(this.#attached(keyId), work, task);
  }

  /** As in Driver. */
  async recognize(keyId: string, question: AssertionRequest, signal: AbortSignal): Promise<RecognizedKey | null> {
    return this.#tasks.recognize(this.#attached(keyId), question, signal);
  }

  #attached(keyId: string): HidKey {
    const key = this.#keys().find(one => one.keyId === keyId);
    if (key === undefined) throw notAttached();
    return key;
  }

  /** Resolves when every handle is closed. No event follows. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const key of this.#keys()) key.removed.abort();
    await this.#started;
    await Promise.all([this.#watch?.stop(), this.#scheduler.stop(), this.#tasks.ended(), ...this.#runningInquiries]);
    await Promise.all(this.#keys().map(key => key.closed()));
    this.#entries.clear();
  }

  async #start(): Promise<void> {
    this.#watch = await this.#parts.system.watch(() => this.#onSystemEvent());
    this.#parts.keyCards?.onArrival(() => this.#onCardArrival());
    await this.#scheduler.scanNow();
    this.#firstScan = false;
    await Promise.all(this.#runningInquiries);
  }

  #keys(): HidKey[] {
    return [...this.#entries.values()].map(({ key }) => key);
  }

  #onSystemEvent(): void {
    this.#eventsMissed = false;
    // udev reports a device after it has set the permissions.
    for (const { inquiry } of this.#entries.values()) inquiry.wake();
    this.#scheduler.hint();
  }

  /** A smart card interface has appeared. It is not yet known to which key it belongs. */
  #onCardArrival(): void {
    if (this.#stopped) return;
    for (const entry of this.#entries.values()) {
      const { key, inquiry } = entry;
      if (key.serial !== null || !key.mayUseCard) continue;
      inquiry.keyChanged();
      if (!inquiry.running) this.#inquire(entry, 0);
    }
  }

  #pace(): number {
    if (this.status.state === 'unavailable') return PACE_UNAVAILABLE;
    return this.#watch?.events === true && !this.#eventsMissed ? PACE_WITH_EVENTS : PACE_WITHOUT_EVENTS;
  }

  async #scan(hinted: boolean): Promise<void> {
    try {
      const devices = groupByDevice(await this.#parts.system.list());
      if (this.#stopped) return;
      const removed = this.#dropMissing(devices);
      const added = this.#takeOver(devices);
      if ((removed || added) && !hinted && !this.#firstScan) this.#eventsMissed = true;
      this.#setStatus('ready', this.#readyDetail());
    } catch (error) {
      const text = error instanceof HardwareError ? error.message : `USB keys cannot be listed: ${String(error)}`;
      this.#setStatus('unavailable', text);
    }
  }

  #readyDetail(): string {
    return this.#watch?.events === true
      ? 'watching USB HID devices by events'
      : `watching USB HID devices by scanning every ${PACE_WITHOUT_EVENTS} ms: no USB events here (is udevd running?)`;
  }

  /** Removes the keys that are not listed any more. True if there was one. */
  #dropMissing(devices: ReadonlyMap<string, HidDevice>): boolean {
    const missing = [...this.#entries].filter(([id]) => !devices.has(id));
    for (const [id, { key }] of missing) {
      this.#entries.delete(id);
      key.removed.abort();
      if (key.reported !== null) this.#emit({ kind: 'detached', key: key.reported });
    }
    return missing.length > 0;
  }

  /** Updates the known keys and adds the new ones. True if there was a new one. */
  #takeOver(devices: ReadonlyMap<string, HidDevice>): boolean {
    let added = false;
    for (const device of devices.values()) {
      const known = this.#entries.get(device.id);
      if (known !== undefined) this.#update(known, device);
      else if (isSecurityKey({ ...device.descriptor, usages: device.interfaces }, this.#parts.match)) {
        this.#add(device);
        added = true;
      }
    }
    return added;
  }

  #update(entry: HidEntry, device: HidDevice): void {
    const { key, inquiry } = entry;
    if (key.device.interfaceSet !== device.interfaceSet) inquiry.keyChanged();
    key.device = device;
    if (this.#isWorthAsking(entry)) this.#inquire(entry, 0);
  }

  #add(device: HidDevice): void {
    const now = this.#parts.now ?? Date.now;
    const key = new HidKey(device, now(), this.#firstScan ? 0 : APPEARING);
    const inquiry = new Inquiry(() => this.#limit(() => this.#identify(key)), key.removed.signal);
    const entry = { key, inquiry };
    this.#entries.set(device.id, entry);
    // A key that was plugged in before the start is complete: what it refuses now it does not allow later.
    this.#inquire(entry, this.#firstScan ? 0 : PATIENCE);
  }

  /** Whether another attempt on a key without a serial can have another result. */
  #isWorthAsking({ key, inquiry }: HidEntry): boolean {
    const unsettled = key.identity?.unsettled ?? null;
    if (inquiry.running || unsettled === null || key.serial !== null) return false;
    if (key.askedInterfaceSet !== key.device.interfaceSet) return true;
    // A smart card interface that did not answer may be held by another program. HID is not asked again: it slows the key down.
    const mayAnswer = unsettled.code === 'timeout' ? key.mayUseCard : retriable.has(unsettled.code);
    return mayAnswer && inquiry.isDue;
  }

  #inquire(entry: HidEntry, patience: number): void {
    const running = this.#runInquiry(entry, patience).finally(() => this.#runningInquiries.delete(running));
    this.#runningInquiries.add(running);
  }

  async #runInquiry({ key, inquiry }: HidEntry, patience: number): Promise<void> {
    inquiry.running = true;
    try {
      const identity = await inquiry.run(patience);
      if (identity !== null) {
        key.identity = identity;
        await this.#report(key);
        if (identity.unsettled?.code !== 'timeout') this.#tasks.readClaims(key);
      }
    } catch (error) {
      if (!key.removed.signal.aborted) this.#parts.notice('a key could not be identified', { error: String(error) });
    }
    inquiry.running = false;
    await key.closed();
  }

  async #identify(key: HidKey): Promise<KeyIdentity> {
    key.askedInterfaceSet = key.device.interfaceSet;
    const identity = await identifyKey(key.view(this.#parts), key.removed.signal, SOURCE_LIMIT);
    if (identity.unsettled?.code === 'removed') this.#scheduler.hint();
    return identity;
  }

  async #report(key: HidKey): Promise<void> {
    // The node that was opened may by now belong to another key that was plugged in instead.
    const wasOpened = key.serial !== null && key.identity?.source !== 'usb-descriptor';
    if (wasOpened || this.#twinsOf(key).length > 0) {
      // The other key with this serial may just have been unplugged: this one may be the same key, plugged in again.
      await this.#scheduler.scanNow();
      if (key.removed.signal.aborted) return;
      const twins = this.#twinsOf(key);
      if (twins.length > 0) for (const one of [...twins, key]) one.sharesSerial = true;
      for (const twin of twins) if (twin.reported !== null) this.#publish(twin);
    }
    this.#publish(key);
  }

  /** The other keys that report the same serial. */
  #twinsOf(key: HidKey): HidKey[] {
    return this.#keys().filter(other => other !== key && key.serial !== null && other.serial === key.serial);
  }

  #publish(key: HidKey): void {
    const before = key.reported;
    const after = key.toAttachedKey();
    if (before !== null && JSON.stringify(before) === JSON.stringify(after)) return;
    key.reported = after;
    this.#emit({ kind: before === null ? 'attached' : 'changed', key: after });
  }

  #setStatus(state: DriverStatus['state'], detail: string): void {
    if (this.status.state === state && this.status.detail === detail) return;
    this.status = { name: 'hid', state, detail };
    this.#emit({ kind: 'status', status: this.status });
  }

  #emit(event: KeyEvent): void {
    if (this.#stopped) return;
    try {
      this.#parts.listener(event);
    } catch (error) {
      this.#parts.notice('a listener failed on a key event', { kind: event.kind, error: String(error) });
    }
  }
}
