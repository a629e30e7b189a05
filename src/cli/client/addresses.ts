/** Requests to a server that has several addresses: what a failure at one of them means, and which accept idempotency keys. */
import { AddressList } from './address-list.ts';
import { fixedEndpoint, type ServerEndpoint } from './endpoint.ts';
import { isServerRefusal, NotServing, Unreachable } from './failures.ts';

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

/** Which addresses of one server accept idempotency keys, as far as they have reported it. */
export class AcceptedKeys {
  readonly #accepts = new Map<string, boolean>();

  /** Whether the server at an address has reported that it accepts keys. */
  at(address: string): boolean {
    return this.#accepts.get(address) === true;
  }

  forget(): void {
    this.#accepts.clear();
  }

  /** Asks the server at an address with `health`. Rejects with `Unreachable` if there is no response. */
  async ask(address: string, health: () => Promise<unknown>): Promise<boolean> {
    const accepts = ((await health()) as { readonly idempotencyKeys?: unknown }).idempotencyKeys === true;
    this.#accepts.set(address, accepts);
    return accepts;
  }

  /**
   * Asks the server at an address if it has not reported it before. Rejects with `Unreachable` if it does not accept keys and
   * another address does: a write may have been sent there, and would be carried out twice.
   */
  async demand(address: string, health: () => Promise<unknown>): Promise<void> {
    if (this.#accepts.get(address) ?? (await this.ask(address, health))) return;
    if (![...this.#accepts.values()].includes(true)) return;
    throw new Unreachable(`${address} does not accept idempotency keys, unlike another address`, false);
  }
}
