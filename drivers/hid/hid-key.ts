/** One key from plugging to unplugging: what is known about it, and how it is reported. */
import { randomUUID } from 'node:crypto';
import { type AttachedKey, type KeyClaims, type TrafficLine, unreported } from '../driver.ts';
import type { KeyCards } from '../key-cards.ts';
import type { KeyIdentity } from '../protocols/identify-key.ts';
import { serialSourcesFor } from '../protocols/key-sources.ts';
import type { KeyView } from '../protocols/key-view.ts';
import { sharedSerial } from '../protocols/serial.ts';
import { cleanText } from '../text.ts';
import { makerName } from '../usb/ids.ts';
import { permissionProblem } from './errors.ts';
import { FIDO, KEYBOARD, type Usage } from './known.ts';
import type { HidDevice, HidHandle, HidSystem } from './system.ts';

/** Dependencies of the opening of a key's interfaces. */
export interface KeyAccess {
  readonly system: HidSystem;
  readonly traffic?: (line: TrafficLine) => void;
  /** Absent: the smart card interface is not used. */
  readonly keyCards?: KeyCards;
}

/** A key while it is plugged in. */
export class HidKey {
  readonly keyId = randomUUID();
  readonly attachedAt: number;
  /** Aborted when the key is unplugged or the driver stops. */
  readonly removed = new AbortController();
  /** The device as the last scan saw it. */
  device: HidDevice;
  /** Null until the key was identified or given up on. */
  identity: KeyIdentity | null = null;
  /** Set permanently when another key reported the same serial: unplugging the other one does not make this one unique. */
  sharesSerial = false;
  /** As it was last reported to the listener; null before the first report. */
  reported: AttachedKey | null = null;
  /** Claims of the key; null until they are read. */
  claims: KeyClaims | null = null;
  /** Whether this user may not open it, although its serial number is known. */
  isDenied = false;
  /** Whether an attempt of SCP11b was made since it was plugged in. */
  triedScp11b = false;
  /** The interfaces that existed when the key was last asked. */
  askedInterfaceSet = '';
  /** Until when interfaces may still appear, on the clock of `performance`. */
  readonly #completeAt: number;
  /** Why its smart card interface could not be used in the last attempt. */
  #cardAbsence: string | null = null;
  readonly #closing = new Set<Promise<void>>();

  /** `appearing`: milliseconds during which interfaces may still appear. */
  constructor(device: HidDevice, attachedAt: number, appearing: number) {
    this.device = device;
    this.attachedAt = attachedAt;
    this.#completeAt = performance.now() + appearing;
  }

  /** The serial that was read; null if there is none. */
  get serial(): string | null {
    return this.identity?.verdict.serial ?? null;
  }

  /** Whether it may have a smart card interface that reports a serial. */
  get mayUseCard(): boolean {
    const { vendorId, productId, hasSmartCard } = this.device.descriptor;
    return hasSmartCard !== false && serialSourcesFor(vendorId, productId).some(({ over }) => over === 'card');
  }

  /** The key as the protocols see it now. */
  view(access: KeyAccess): KeyView {
    const { vendorId, productId, serial } = this.device.descriptor;
    return {
      vendorId,
      productId,
      descriptorSerial: serial,
      appearing: performance.now() < this.#completeAt,
      openFido: this.#opener(access, FIDO),
      openOtp: this.#opener(access, KEYBOARD),
      openCard: this.#cardOpener(access.keyCards),
    };
  }

  /** Resolves when every handle that was opened is closed. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing);
  }

  /** The key as the driver reports it, from what is known now. */
  toAttachedKey(): AttachedKey {
    const { descriptor } = this.device;
    const serialNumber = this.sharesSerial ? null : this.serial;
    return {
      keyId: this.keyId,
      deviceType: 'UKEY',
      serialNumber,
      serialSource: serialNumber === null ? null : (this.identity?.source ?? null),
      manufacturer: cleanText(descriptor.manufacturer) ?? makerName(descriptor.vendorId),
      model: cleanText(descriptor.product),
      ...unreported,
      hardwareVersion: releaseVersion(descriptor.release),
      firmwareVersion: this.identity?.firmwareVersion ?? null,
      transport: 'HID',
      reader: null,
      vendorId: descriptor.vendorId,
      productId: descriptor.productId,
      attachedAt: this.attachedAt,
      simulated: false,
      problem: this.#problem(),
      claims: this.claims ?? {},
    };
  }

  #opener({ system, traffic }: KeyAccess, { usagePage, usage }: Usage) {
    const found = this.device.interfaces.find(one => one.usagePage === usagePage && one.usage === usage);
    if (found === undefined) return null;
    return async (signal: AbortSignal): Promise<HidHandle> => {
      const handle = await system.open(found.path, signal);
      return observed(
        handle,
        (direction, bytes) => traffic?.({ driver: 'hid', keyId: this.keyId, direction, bytes }),
        closing => this.#trackClosing(closing),
      );
    };
  }

  #cardOpener(keyCards: KeyCards | undefined): KeyView['openCard'] {
    this.#cardAbsence = null;
    if (keyCards === undefined || !this.mayUseCard) return null;
    this.#cardAbsence = keyCards.absence();
    if (this.#cardAbsence !== null) return null;
    const { vendorId, location } = this.device.descriptor;
    return signal => keyCards.open({ keyId: this.keyId, vendorId, location }, signal);
  }

  #trackClosing(closing: Promise<void>): void {
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  #problem(): string | null {
    const { identity } = this;
    if (identity === null) return null;
    if (this.sharesSerial && this.serial !== null) return sharedSerial(this.serial);
    const { vendorId } = this.device.descriptor;
    if (identity.verdict.serial !== null) return this.isDenied ? permissionProblem(vendorId) : null;
    if (identity.unsettled?.code === 'no-permission') return permissionProblem(vendorId);
    if (identity.unsettled === null) {
      return this.#cardAbsence === null
        ? identity.verdict.problem
        : `no serial could be read without the key's smart card interface: ${this.#cardAbsence}`;
    }
    return `no serial could be read (${identity.unsettled.message}); plug the key in again, or register it by hand with the number printed on it`;
  }
}

/** bcdDevice as makers use it: 0x0543 is 5.43. Null if the maker left it at zero. */
function releaseVersion(release: number): string | null {
  if (release === 0) return null;
  return `${(release >> 8).toString(16)}.${(release & 0xff).toString(16).padStart(2, '0')}`;
}

/** A handle whose traffic is reported. `close` does not wait: node-hid first waits for its reading thread. */
function observed(
  handle: HidHandle,
  onTraffic: (direction: TrafficLine['direction'], bytes: Uint8Array) => void,
  onClose: (closing: Promise<void>) => void,
): HidHandle {
  const report = (direction: TrafficLine['direction'], bytes: Uint8Array): Uint8Array => {
    onTraffic(direction, bytes);
    return bytes;
  };
  return {
    write: (bytes, signal) => handle.write(report('out', bytes), signal),
    read: async signal => report('in', await handle.read(signal)),
    sendFeature: (bytes, signal) => handle.sendFeature(report('out', bytes), signal),
    getFeature: async signal => report('in', await handle.getFeature(signal)),
    close: async () => onClose(handle.close()),
  };
}
