/** The addresses of one server, and which of them is asked next. */

/** Milliseconds for which an address that failed is not asked while another one answers. */
const backoffMs = 10_000;

interface AddressFailure {
  /** On the monotonic clock. */
  readonly until: number;
  readonly reason: string;
}

/** The addresses of one server in the order that the user gave, and what this process knows about them. */
export class AddressList {
  readonly all: readonly string[];
  readonly #now: () => number;
  readonly #failures = new Map<string, AddressFailure>();
  #current: string;

  /** At least one address. */
  constructor(addresses: readonly string[], now: () => number = () => performance.now()) {
    this.all = addresses;
    this.#now = now;
    this.#current = addresses[0]!;
  }

  /** The address to ask next. */
  get next(): string {
    return this.order()[0]!;
  }

  /** Whether an address is left that has not failed in the last seconds. */
  get hasFresh(): boolean {
    return this.all.some(address => !this.#isBackingOff(address));
  }

  /**
   * All addresses: the one that answered last, then as they were given. Those that failed in the last seconds are at the end, the
   * earliest failure first.
   */
  order(): readonly string[] {
    const others = this.all.filter(address => address !== this.#current);
    const all = [this.#current, ...others];
    const backingOff = all.filter(address => this.#isBackingOff(address));
    return [
      ...all.filter(address => !this.#isBackingOff(address)),
      ...backingOff.sort((one, other) => this.#until(one) - this.#until(other)),
    ];
  }

  /** Notes that an address answered. A line for the user if it replaces another one that failed; else null. */
  answered(address: string): string | null {
    const reason = this.#failures.get(this.#current)?.reason;
    const replaces = address !== this.#current && reason !== undefined && this.#isBackingOff(this.#current);
    this.#failures.delete(address);
    if (!replaces) return null;
    this.#current = address;
    return `${reason}; using ${address}`;
  }

  failed(address: string, reason: string): void {
    this.#failures.set(address, { until: this.#now() + backoffMs, reason });
  }

  #isBackingOff(address: string): boolean {
    return this.#until(address) > this.#now();
  }

  #until(address: string): number {
    return this.#failures.get(address)?.until ?? Number.NEGATIVE_INFINITY;
  }
}
