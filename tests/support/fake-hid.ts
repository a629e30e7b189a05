/** A table in the place of the operating system, for what hardware seldom does on demand. */
import { HardwareError } from '../../drivers/driver.ts';
import type { HidHandle, HidInterface, HidSystem } from '../../drivers/hid/system.ts';
import type { FeatureConnection, ReportConnection } from '../../drivers/protocols/ukey/connection.ts';

export type Usage = 'fido' | 'otp' | 'mouse' | 'vendor';
const USAGES: Readonly<Record<Usage, readonly [number, number]>> = {
  fido: [0xf1d0, 1],
  otp: [1, 6],
  mouse: [1, 2],
  vendor: [0xff00, 1],
};

export interface FakeKey {
  readonly ids?: string;
  readonly serial?: string | null;
  readonly product?: string | null;
  readonly usages?: readonly Usage[];
  /** The number in the name of its node, where it is one that was free again. */
  readonly node?: number;
  /** Whether it has a smart card side; null: the system does not tell. */
  readonly smartCard?: boolean | null;
  /** What each side answers when it is opened; without it opening fails as it does for a key that is gone. */
  readonly sides?: Partial<Record<Usage, Partial<ReportConnection & FeatureConnection>>>;
}

export class FakeHid implements HidSystem {
  /** Set to make every listing fail with this. */
  listFailure: unknown = null;
  /** Opening fails with `no-permission` while this is false. */
  permitted = true;
  /** Called when a listing has been made up, before it is handed out. */
  afterList: (() => void) | null = null;
  /** Whether hints are given at all. */
  events = true;
  /** Handles that are open now. */
  handles = 0;
  readonly #units = new Map<number, HidInterface[]>();
  readonly #sides = new Map<string, Partial<ReportConnection & FeatureConnection>>();
  readonly #hints = new Set<() => void>();
  #count = 0;

  /** Plugs a key in; `pull` and `add` take the number it returns. */
  plug(key: FakeKey = {}): number {
    const unit = ++this.#count;
    this.#units.set(unit, []);
    for (const usage of key.usages ?? ['fido']) this.#addInterface(unit, usage, key);
    this.hint();
    return unit;
  }

  /** One more interface of a key that is there. */
  add(unit: number, usage: Usage, key: FakeKey = {}): void {
    this.#addInterface(unit, usage, key);
    this.hint();
  }

  pull(unit: number): void {
    this.#units.delete(unit);
    this.hint();
  }

  hint(): void {
    if (this.events) for (const hint of this.#hints) hint();
  }

  async list(): Promise<HidInterface[]> {
    if (this.listFailure !== null) throw this.listFailure;
    const listed = [...this.#units.values()].flat();
    this.afterList?.();
    return listed;
  }

  async open(path: string): Promise<HidHandle> {
    if (!this.permitted) throw new HardwareError('no-permission', 'opening the key: Permission denied');
    const side = this.#sides.get(path);
    if (side === undefined) throw new HardwareError('removed', 'opening the key: No such file or directory');
    this.handles += 1;
    const silent = (): never => {
      throw new HardwareError('protocol', 'this side does not talk');
    };
    let closed = false;
    return {
      write: (report, signal) => side.write?.(report, signal) ?? silent(),
      read: signal => side.read?.(signal) ?? silent(),
      sendFeature: (report, signal) => side.sendFeature?.(report, signal) ?? silent(),
      getFeature: signal => side.getFeature?.(signal) ?? silent(),
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

  #addInterface(unit: number, usage: Usage, key: FakeKey): void {
    const [vendorId, productId] = (key.ids ?? '096e:0850').split(':') as [string, string];
    const interfaces = this.#units.get(unit) ?? [];
    const path = `/dev/hidraw${key.node ?? unit}.${interfaces.length}`;
    const side = key.sides?.[usage];
    if (side !== undefined) this.#sides.set(path, side);
    const [usagePage, usageNumber] = USAGES[usage];
    this.#units.set(unit, [
      ...interfaces,
      {
        path,
        unit: `usb:1:${unit}`,
        place: { bus: 1, address: unit },
        smartCard: key.smartCard ?? null,
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
