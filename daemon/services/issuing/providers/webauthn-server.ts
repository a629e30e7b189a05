/** Any server with three addresses that speak WebAuthn's JSON: options, finish, remove. docs/issuing.md describes what each gets and returns. */
import type { ProviderRecord } from '../../../domain/provider.ts';
import type { IssuingProvider, NewRemote } from './provider-api.ts';
import { objectIn, type ProviderAccess, ProviderRequests, textIn } from './requests.ts';

type ServerAddresses = Pick<ProviderRecord, 'address' | 'finishAddress' | 'removeAddress'>;

/** Milliseconds that a challenge lives if the server names no `timeout`, and at most. */
const CHALLENGE_MS = 5 * 60_000;

export class WebauthnServer implements IssuingProvider {
  readonly #addresses: ServerAddresses;
  readonly #access: ProviderAccess;
  readonly #requests: ProviderRequests;

  /** The secret is sent as a bearer token. */
  constructor(addresses: ServerAddresses, access: ProviderAccess) {
    this.#addresses = addresses;
    this.#access = access;
    this.#requests = new ProviderRequests('the server', addresses.address!, access);
  }

  async test(): Promise<void> {
    await this.#post(this.#addresses.address, { test: true });
  }

  async account(userName: string): Promise<string> {
    return userName;
  }

  async options(account: string) {
    const answer = (await this.#post(this.#addresses.address, { userName: account }))!;
    const options = objectIn(answer, 'options');
    const life = typeof options.timeout === 'number' ? Math.min(options.timeout, CHALLENGE_MS) : CHALLENGE_MS;
    return { origin: textIn(answer, 'origin'), options, expiresAt: this.#access.now() + life, handle: null };
  }

  /** The server keeps the credential id as its own: a repeated answer is the same credential. */
  async finish({ account, label, response }: NewRemote): Promise<string> {
    await this.#post(this.#addresses.finishAddress, { userName: account, name: label, response });
    return response.id;
  }

  async list(): Promise<null> {
    return null;
  }

  async remove(account: string, { credentialId }: { readonly credentialId: string }): Promise<boolean> {
    const body = { userName: account, credentialId };
    return (await this.#post(this.#addresses.removeAddress, body, true)) !== null;
  }

  #post(url: string | null, body: object, mayMiss = false) {
    const authorization = `Bearer ${this.#access.secret}`;
    return this.#requests.send(url!, { method: 'POST', authorization, body, mayMiss });
  }
}
