/** A fake operating system, for what real hardware rarely does. */
import { HardwareError } from '../../drivers/hardware-error.ts';
import type { HidHandle, HidInterface, HidSystem } from '../../drivers/hid/system.ts';
import type { FeatureConnection, ReportConnection } from '../../drivers/protocols/connection.ts';

export type InterfaceKind = 'fido' | 'otp' | 'mouse' | 'vendor';
const USAGES: Readonly<Record<InterfaceKind, readonly [number, number]>> = {
  fido: [0xf1d0, 1],
  otp: [1, 6],
  mouse: [1, 2],
  vendor: [0xff00, 1],
};

type FakeInterface = Partial<ReportConnection & FeatureConnection>;

export interface FakeKey {
  /** `vid:pid`. Default: 096e:0850. */
  readonly ids?: string;
  readonly serial?: string | null;
  readonly product?: string | null;
  /** Default: FIDO. */
  readonly usages?: readonly InterfaceKind[];
  /** The number in the name of its node, if the node reuses one. */
  readonly node?: number;
  /** Whether it has a smart card interface; null if the system does not report it. */
  readonly hasSmartCard?: boolean | null;
  /** The responder of each interface. Opening any other interface fails as for a key that was unplugged. */
  readonly interfaces?: Partial<Record<InterfaceKind, FakeInterface>>;
}

export class FakeHid implements HidSystem {
  /** If set, every listing fails with this. */
  listFailure: unknown = null;
  /** While false, opening fails with `no-permission`. */
  permitted = true;
  /** Called after a listing was compiled, before it is returned. */
  afterList: (() => void) | null = null;
  /** Whether hints are given. */
  events = true;
  /** Handles that are open now. */
  handles = 0;
  readonly #keys = new Map<number, HidInterface[]>();
  readonly #interfaces = new Map<string, FakeInterface>();
  readonly #hints = new Set<() => void>();
  #count = 0;

  /** Plugs a key in and returns its USB address, for `unplug` and `add`. */
  plug(key: FakeKey = {}): number {
    const address = ++this.#count;
    this.#keys.set(address, []);
    for (const usage of key.usages ?? ['fido']) this.#addInterface(address, usage, key);
    this.hint();
    return address;
  }

  /** Another interface of a key appears. */
  add(address: number, usage: InterfaceKind, key: FakeKey = {}): void {
    this.#addInterface(address, usage, key);
    this.hint();
  }

  unplug(address: number): void {
    this.#keys.delete(address);
    this.hint();
  }

  hint(): void {
    if (this.events) for (const hint of this.#hints) hint();
  }

  async list(): Promise<HidInterface[]> {
    if (this.listFailure !== null) throw this.listFailure;
    const listed = [...this.#keys.values()].flat();
    this.afterList?.();
    return listed;
  }

  async open(path: string): Promise<HidHandle> {
    if (!this.permitted) throw new HardwareError('no-permission', 'opening the key: Permission denied');
    const fake = this.#interfaces.get(path);
    if (fake === undefined) throw new HardwareError('removed', 'opening the key: No such file or directory');
    this.handles += 1;
    const silent = (): never => {
      throw new HardwareError('protocol', 'this interface does not answer');
    };
    let closed = false;
    return {
      write: (report, signal) => fake.write?.(report, signal) ?? silent(),
      read: signal => fake.read?.(signal) ?? silent(),
      sendFeature: (report, signal) => fake.sendFeature?.(report, signal) ?? silent(),
      getFeature: signal => fake.getFeature?.(signal) ?? silent(),
      close: async () => {
        if (!closed) this.handles -= 1;
        closed = true;
      },
    };
  }

  async watch(hint: () => void) {
    this.#hints.add(hint);
    return { events: this.events, stop: async () => void this.#hints.delete(hint) };
  }

  get watchers(): number {
    return this.#hints.size;
  }

  #addInterface(address: number, usage: InterfaceKind, key: FakeKey): void {
    const [vendorId, productId] = (key.ids ?? '096e:0850').split(':') as [string, string];
    const interfaces = this.#keys.get(address) ?? [];
    const path = `/dev/hidraw${key.node ?? address}.${interfaces.length}`;
    const fake = key.interfaces?.[usage];
    if (fake !== undefined) this.#interfaces.set(path, fake);
    const [usagePage, usageNumber] = USAGES[usage];
    this.#keys.set(address, [
      ...interfaces,
      {
        path,
        deviceId: `usb:1:${address}`,
        location: { bus: 1, address },
        hasSmartCard: key.hasSmartCard ?? null,
        vendorId,
        productId,
        usagePage,
        usage: usageNumber,
        serial: key.serial ?? null,
        manufacturer: null,
        product: key.product === undefined ? 'Lab key' : key.product,
        release: 0x0543,
      },
    ]);
  }
}
