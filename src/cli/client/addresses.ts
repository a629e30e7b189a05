/** Where a server is, which of its addresses is asked next, and what a failure at one of them means. */
import { isServerRefusal, NotServing, Unreachable } from './failures.ts';

/** Where a server is. */
export interface ServerEndpoint {
  /** The address, without a trailing slash. Starts the local daemon if that is needed and allowed. */
  address(): Promise<string>;
  /** Called when no server answers there. True if it has been started again, so that another attempt makes sense. */
  restart(): Promise<boolean>;
  /** The address as of now. Starts nothing once there has been one; the last one known if the server is away. */
  currentAddress(): Promise<string>;
  /** Path of the Unix socket of the server at the address; null if it is reached by the address. Valid after `address`. */
  readonly socketPath: string | null;
  /** Present if the server has several addresses. */
  readonly addresses?: AddressList;
}

/** The endpoint of a server at an address that this program does not start. */
export const fixedEndpoint = (address: string): ServerEndpoint => ({
  address: () => Promise.resolve(address),
  restart: () => Promise.resolve(false),
  currentAddress: () => Promise.resolve(address),
  socketPath: null,
});

/** The endpoint of a server that runs already: nothing is started to reach it. */
export const startingNothing = (endpoint: ServerEndpoint): ServerEndpoint => ({
  address: () => endpoint.currentAddress(),
  currentAddress: () => endpoint.currentAddress(),
  restart: () => Promise.resolve(false),
  get socketPath() {
    return endpoint.socketPath;
  },
  ...(endpoint.addresses ? { addresses: endpoint.addresses } : {}),
});

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

/** The endpoint of a server with several addresses. Nothing is started to reach it. */
export function listEndpoint(addresses: readonly string[]): ServerEndpoint {
  const list = new AddressList(addresses);
  const next = () => Promise.resolve(list.next);
  return { ...fixedEndpoint(''), address: next, currentAddress: next, addresses: list };
}

/** An error that another address may not have, as the loss that it is; null for any other error. */
function lossOf(error: unknown, address: string): Unreachable | null {
  if (error instanceof Unreachable) return error;
  if (error instanceof NotServing)
    return new Unreachable(`${address} does not serve requests now: ${error.message}`, true);
  return null;
}

/**
 * Resolves as `attempt` does at the first address that answers. A request that the server may have received is given to another
 * address only if it is `repeatable`. Rejects with `Unreachable` if no address answers, else with what the server refuses.
 */
export async function atFirstThatAnswers<T>(
  list: AddressList,
  isRepeatable: boolean,
  notice: (text: string) => void,
  attempt: (address: string) => Promise<T>,
): Promise<T> {
  const losses: Unreachable[] = [];
  for (const address of list.order()) {
    try {
      const result = await attempt(address);
      noteAnswer(list, address, notice);
      return result;
    } catch (error) {
      if (isServerRefusal(error) && !(error instanceof NotServing)) noteAnswer(list, address, notice);
      const loss = lossOf(error, address);
      if (loss === null) throw error;
      list.failed(address, loss.message);
      losses.push(loss);
      if (loss.maybeDone && !isRepeatable) throw elsewhere(list, loss);
    }
  }
  throw together(losses);
}

/** Notes that an address answered, and reports it if it replaces another one. */
export function noteAnswer(list: AddressList, address: string, notice: (text: string) => void): void {
  const text = list.answered(address);
  if (text !== null) notice(text);
}

/** A timeout makes another attempt pointless only if there is only the address that was silent. */
const elsewhere = (list: AddressList, { message, maybeDone, hint, timedOut }: Unreachable): Unreachable =>
  new Unreachable(message, maybeDone, hint, timedOut && !list.hasFresh);

/** One error for the losses at all addresses. */
function together(losses: readonly Unreachable[]): Unreachable {
  const messages = new Set(losses.map(({ message }) => message));
  return new Unreachable(
    [...messages].join('; '),
    losses.some(({ maybeDone }) => maybeDone),
    losses[0]!.hint,
    losses.some(({ timedOut }) => timedOut),
  );
}

/** Resolves as what comes before a request. If that fails, the request itself was not sent. */
export async function beforeSending<T>(at: Pick<ServerEndpoint, 'address'>, preparation: Promise<T>): Promise<T> {
  try {
    return await preparation;
  } catch (error) {
    const loss = lossOf(error, await at.address());
    throw loss === null ? error : new Unreachable(loss.message, false, loss.hint, loss.timedOut);
  }
}
