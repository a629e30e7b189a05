/** One key while it is plugged in: what is known of it, and how that is told. */
import { randomUUID } from 'node:crypto';
import type { AttachedKey, TrafficLine } from '../driver.ts';
import type { Identity, KeyView } from '../protocols/ukey/identify.ts';
import { sharedSerial } from '../protocols/ukey/serial.ts';
import { sourcesFor } from '../protocols/ukey/sources.ts';
import { cleanText } from '../text.ts';
import type { UsbPlace } from '../usb/place.ts';
import { FIDO_USAGE, FIDO_USAGE_PAGE, vendorName } from './known.ts';
import { notPermitted } from './permission.ts';
import type { HidHandle, HidSystem } from './system.ts';
import { tapped } from './traffic.ts';
import type { Unit } from './units.ts';

interface ViewParts {
  readonly system: HidSystem;
  readonly traffic?: (line: TrafficLine) => void;
  readonly cardSide?: CardSide;
}

/** A key as the program that knows the smart cards is told of it. */
export interface CardSideKey {
  readonly keyId: string;
  readonly vendorId: string;
  readonly place: UsbPlace | null;
}

/** The way to the smart card sides of USB keys. Some keys tell their serial there alone. */
export interface CardSide {
  /** Why no smart card side can be reached at all now, and what to do; null where they can. */
  absence(): string | null;
  /** Fails with a HardwareError: `unavailable` while this key's side has not appeared. */
  open(key: CardSideKey, signal: AbortSignal): ReturnType<NonNullable<KeyView['openCard']>>;
  /** Calls back whenever a smart card side has appeared. */
  onArrival(listener: () => void): void;
}

export class Plugging {
  readonly keyId = randomUUID();
  readonly attachedAt: number;
  /** Aborted when the key is pulled or the driver stops. */
  readonly gone = new AbortController();
  unit: Unit;
  identity: Identity | null = null;
  /** Set for good when another key gave the same serial: pulling the other one does not make this one's unique. */
  shared = false;
  /** As it was last given to the listener; null before it has been. */
  published: AttachedKey | null = null;
  /** True while the key is being asked. */
  asking = false;
  askedAt = 0;
  /** Ends the wait between two questions; null while there is none. */
  wake: (() => void) | null = null;
  /** What the last look at it saw of its interfaces. */
  askedShape = '';
  /** Set when something about the key may have changed since the last look began. */
  stirred = false;
  /** Until when sides of it may be missing because they are yet to come, on the clock of `performance`. */
  readonly #wholeAt: number;
  /** Why its smart card side was not asked. */
  #cardAbsence: string | null = null;
  readonly #closing = new Set<Promise<void>>();

  /** `appearing`: milliseconds in which sides of it may yet come. */
  constructor(unit: Unit, attachedAt: number, appearing: number) {
    this.unit = unit;
    this.attachedAt = attachedAt;
    this.#wholeAt = performance.now() + appearing;
  }

  get serial(): string | null {
    return this.identity?.verdict.serial ?? null;
  }

  /** Whether its smart card side, where it has one, can tell a serial. */
  get mayTellByCard(): boolean {
    const { vendorId, productId, smartCard } = this.unit.device;
    return smartCard !== false && sourcesFor(vendorId, productId).some(({ side }) => side === 'card');
  }

  /** The key for the protocols. */
  view({ system, traffic, cardSide }: ViewParts): KeyView {
    const opener = (usagePage: number, usage: number) => {
      const found = this.unit.interfaces.find(one => one.usagePage === usagePage && one.usage === usage);
      if (found === undefined) return null;
      return async (signal: AbortSignal): Promise<HidHandle> => {
        const handle = this.#counted(await system.open(found.path, signal));
        return traffic === undefined ? handle : tapped(handle, this.keyId, traffic);
      };
    };
    const { vendorId, productId, serial } = this.unit.device;
    return {
      vendorId,
      productId,
      descriptorSerial: serial,
      appearing: performance.now() < this.#wholeAt,
      openFido: opener(FIDO_USAGE_PAGE, FIDO_USAGE),
      openOtp: opener(1, 6),
      openCard: this.#cardOpener(cardSide),
    };
  }

  #cardOpener(cardSide: CardSide | undefined): KeyView['openCard'] {
    this.#cardAbsence = null;
    if (cardSide === undefined || !this.mayTellByCard) return null;
    this.#cardAbsence = cardSide.absence();
    if (this.#cardAbsence !== null) return null;
    const { vendorId, place } = this.unit.device;
    return signal => cardSide.open({ keyId: this.keyId, vendorId, place }, signal);
  }

  /** Resolves when every handle that was opened has been closed. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing);
  }

  /** Closing may take a while (node-hid waits for its reading thread), and nobody needs to wait with it. */
  #counted(handle: HidHandle): HidHandle {
    const close = async (): Promise<void> => {
      const closing = handle.close();
      this.#closing.add(closing);
      void closing.then(() => this.#closing.delete(closing));
    };
    return { ...handle, close };
  }

  /** The key for the program, from what is known now. */
  describe(): AttachedKey {
    const { device } = this.unit;
    const serialNumber = this.shared ? null : this.serial;
    return {
      keyId: this.keyId,
      deviceType: 'UKEY',
      serialNumber,
      serialSource: serialNumber === null ? null : (this.identity?.source ?? null),
      manufacturer: cleanText(device.manufacturer) ?? vendorName(device.vendorId),
      model: cleanText(device.product),
      hardwareVersion: versionOf(device.release),
      firmwareVersion: this.identity?.firmwareVersion ?? null,
      transport: 'HID',
      reader: null,
      vendorId: device.vendorId,
      productId: device.productId,
      attachedAt: this.attachedAt,
      simulated: false,
      problem: this.#problem(),
    };
  }

  #problem(): string | null {
    const { identity } = this;
    if (identity === null) return null;
    if (this.shared && this.serial !== null) return sharedSerial(this.serial);
    if (identity.verdict.serial !== null) return null;
    if (identity.unsettled?.code === 'no-permission') return notPermitted(this.unit.device.vendorId);
    if (identity.unsettled === null) {
      return this.#cardAbsence === null
        ? identity.verdict.problem
        : `no serial could be read without the key's smart card side: ${this.#cardAbsence}`;
    }
    return `no serial could be read (${identity.unsettled.message}); plug the key in again, or register it by hand with the number printed on it`;
  }
}

/** bcdDevice as makers write it: 0x0543 is 5.43; null where the maker left it at zero. */
function versionOf(release: number): string | null {
  if (release === 0) return null;
  return `${(release >> 8).toString(16)}.${(release & 0xff).toString(16).padStart(2, '0')}`;
}
