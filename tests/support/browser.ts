/** A page of a browser: its requests name the page as their origin, and its security key signs for it. */
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Answer, adminPassword, type TestDaemon } from './daemon.ts';
import { data } from './fleet.ts';
import { validateAnswer } from './openapi.ts';
import type { Changes, SoftwareKey } from './software-key.ts';

export interface PageOptions {
  /** `localhost` at the port of the daemon if absent. */
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Page {
  readonly #given: string | undefined;
  readonly #daemon: Pick<TestDaemon, 'url'>;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(daemon: Pick<TestDaemon, 'url'>, { origin, headers = {} }: PageOptions = {}) {
    this.#daemon = daemon;
    this.#given = origin;
    this.#headers = headers;
  }

  /** The given one, else that of the daemon: it may listen elsewhere after a restart. */
  get origin(): string {
    return this.#given ?? `http://localhost:${new URL(this.#daemon.url).port}`;
  }

  /** A request of the page. Without a token, it is sent without one. */
  async call(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
    const { port } = new URL(this.#daemon.url);
    const headers = {
      host: new URL(this.origin).host,
      origin: this.origin,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...this.#headers,
    };
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    sent.once('error', reject).once('response', async response => {
      const envelope = (await json(response)) as Pick<Answer, 'code' | 'message' | 'data'>;
      const status = response.statusCode!;
      const faults = validateAnswer(method, path, status, envelope);
      if (faults.length) reject(new Error(`the answer is not as documented: ${faults.join('; ')}`));
      resolve({ status, headers: new Headers(response.headers as Record<string, string>), ...envelope });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  /** A login with a password, in the console. */
  login(username: string, password = adminPassword): Promise<Answer> {
    return this.call('POST', '/api/auth/login', { username, password, session: 'CONSOLE' });
  }

  /** Registers the key for the user of the token. */
  async register(key: SoftwareKey, token: string, name = 'desk', changes: Changes = {}): Promise<Answer> {
    const response = await this.created(key, token, changes);
    return this.call('POST', '/api/auth/webauthn/register', { name, response }, token);
  }

  /** The answer of the key to a registration; `{}` if the caller gets no challenge. */
  async created(key: SoftwareKey, token: string, changes: Changes = {}): Promise<object> {
    const asked = await this.call('POST', '/api/auth/webauthn/register/options', undefined, token);
    return asked.code === 200 ? key.create(asked.data.options, this.origin, changes) : {};
  }

  /** Signs in with the key alone. */
  async signIn(key: SoftwareKey, changes: Changes = {}): Promise<Answer> {
    return this.send(key.get(await this.options(), this.origin, changes));
  }

  async options() {
    return data(await this.call('POST', '/api/auth/webauthn/options')).options;
  }

  /** Sends what the key has answered. */
  send(response: object, more: object = {}): Promise<Answer> {
    return this.call('POST', '/api/auth/webauthn/login', { response, session: 'CONSOLE', ...more });
  }

  /** Signs in again within the session of the token. */
  async stepUp(key: SoftwareKey, token: string, changes: Changes = {}): Promise<Answer> {
    const { options } = data(await this.call('POST', '/api/auth/step-up/options', undefined, token));
    return this.call('POST', '/api/auth/step-up', { response: key.get(options, this.origin, changes) }, token);
  }
}
