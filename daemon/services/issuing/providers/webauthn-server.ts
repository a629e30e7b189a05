/** Any server with three addresses that speak WebAuthn's JSON: options, finish, remove. docs/issuing.md describes what each gets and returns. */
import type { IssuingProvider, NewRemote } from './provider-api.ts';
import { objectIn, type ProviderNetwork, ProviderRequests, textIn } from './requests.ts';

interface WebauthnServerSettings extends ProviderNetwork {
  readonly address: string;
  readonly finishAddress: string;
  readonly removeAddress: string;
  /** Sent as a bearer token. */
  readonly secret: string;
}

/** Milliseconds that a challenge lives if the server names no `timeout`, and at most. */
const CHALLENGE_MS = 5 * 60_000;

export class WebauthnServer implements IssuingProvider {
  readonly #settings: WebauthnServerSettings;
  readonly #requests: ProviderRequests;

  constructor(settings: WebauthnServerSettings) {
    this.#settings = settings;
    this.#requests = new ProviderRequests('the server', settings.address, settings);
  }

  async test(): Promise<void> {
    await this.#post(this.#settings.address, { test: true });
  }

  async account(userName: string): Promise<string> {
    return userName;
  }

  async options(account: string) {
    const answer = (await this.#post(this.#settings.address, { userName: account }))!;
    const options = objectIn(answer, 'options');
    const life = typeof options.timeout === 'number' ? Math.min(options.timeout, CHALLENGE_MS) : CHALLENGE_MS;
    return { origin: textIn(answer, 'origin'), options, expiresAt: this.#settings.now() + life, handle: null };
  }

  /** The server keeps the credential id as its own: a repeated answer is the same credential. */
  async finish({ account, label, response }: NewRemote): Promise<string> {
    await this.#post(this.#settings.finishAddress, { userName: account, name: label, response });
    return response.id;
  }

  async list(): Promise<null> {
    return null;
  }

  async remove(account: string, { credentialId }: { readonly credentialId: string }): Promise<boolean> {
    const body = { userName: account, credentialId };
    return (await this.#post(this.#settings.removeAddress, body, true)) !== null;
  }

  #post(url: string, body: object, mayMiss = false) {
    const authorization = `Bearer ${this.#settings.secret}`;
    return this.#requests.send(url, { method: 'POST', authorization, body, mayMiss });
  }
}
