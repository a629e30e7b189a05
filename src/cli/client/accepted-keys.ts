/** Which addresses of a server accept idempotency keys, as far as the server has said so. */
import type { Client } from './client.ts';
import { Unreachable } from './failures.ts';

/** What the addresses of one server have said. */
export class AcceptedKeys {
  readonly #said = new Map<string, boolean>();

  /** Whether the server at an address has said that it accepts keys. */
  at(address: string): boolean {
    return this.#said.get(address) === true;
  }

  forget(): void {
    this.#said.clear();
  }

  /** Asks the server at the address of a client. Rejects with `Unreachable` if there is no response. */
  async ask(client: Client): Promise<boolean> {
    const health = await client.callAs(null, 'health');
    const accepts = (health as { readonly idempotencyKeys?: unknown }).idempotencyKeys === true;
    this.#said.set(await client.address(), accepts);
    return accepts;
  }

  /**
   * Asks the server at the address of a client if it has not said so before. Rejects with `Unreachable` if it does not accept keys
   * and another address does: a write may have been sent there, and would be carried out twice.
   */
  async demand(client: Client): Promise<void> {
    const address = await client.address();
    if (this.#said.get(address) ?? (await this.ask(client))) return;
    if (![...this.#said.values()].includes(true)) return;
    throw new Unreachable(`${address} does not accept idempotency keys, unlike another address`, false);
  }
}
