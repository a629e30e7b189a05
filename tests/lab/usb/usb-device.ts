/** An emulated USB device: its descriptors, and how it handles the transfers of the kernel. */

export interface Setup {
  readonly requestType: number;
  readonly request: number;
  readonly value: number;
  readonly index: number;
  readonly length: number;
}

export interface UsbDevice {
  /** The 18 bytes of the device descriptor. */
  readonly descriptor: Uint8Array;
  /** The configuration descriptor, followed by all interfaces and endpoints. */
  readonly configuration: Uint8Array;
  /** The string descriptors; the first has index 1. */
  readonly strings: readonly string[];
  /**
   * A control transfer other than a standard request for descriptors, with its data. Resolves with the response; null stalls
   * the transfer.
   */
  control(setup: Setup, data: Uint8Array): Promise<Uint8Array | null>;
  /** Data for an OUT endpoint (its number without the direction bit). */
  out(endpoint: number, data: Uint8Array): Promise<void>;
  /** Called once when it is plugged in: `send` queues data on an IN endpoint. */
  plugged(send: (endpoint: number, data: Uint8Array) => void): void;
}

const u16 = (value: number): number[] => [value & 0xff, value >> 8];

export interface Identity {
  readonly vendorId: number;
  readonly productId: number;
  readonly release: number;
  readonly manufacturer: string;
  readonly product: string;
  readonly serial: string | null;
}

/** Device descriptor and strings of a device whose interfaces define its class. */
export function identityOf(id: Identity): { descriptor: Uint8Array; strings: string[] } {
  const strings = [id.manufacturer, id.product, ...(id.serial === null ? [] : [id.serial])];
  const head = [18, 1, ...u16(0x0200), 0, 0, 0, 64];
  const ids = [...u16(id.vendorId), ...u16(id.productId), ...u16(id.release)];
  return { descriptor: Uint8Array.of(...head, ...ids, 1, 2, id.serial === null ? 0 : 3, 1), strings };
}

export interface Interface {
  readonly class: number;
  readonly subclass: number;
  readonly protocol: number;
  /** The class-specific descriptor. */
  readonly extra: Uint8Array;
  readonly endpoints: readonly { readonly address: number; readonly kind: 'bulk' | 'interrupt' }[];
}

export function configurationOf(interfaces: readonly Interface[]): Uint8Array {
  const body = interfaces.flatMap((one, number) => [
    ...[9, 4, number, 0, one.endpoints.length, one.class, one.subclass, one.protocol, 0],
    ...one.extra,
    ...one.endpoints.flatMap(({ address, kind }) => [7, 5, address, kind === 'bulk' ? 2 : 3, ...u16(64), 4]),
  ]);
  return Uint8Array.of(9, 2, ...u16(9 + body.length), interfaces.length, 1, 0, 0x80, 50, ...body);
}
