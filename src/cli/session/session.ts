/** The token of requests: DEVMGR_TOKEN, else that of the stored login, renewed before it expires. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import type { Client, ClientSession } from '../client/client.ts';
import { isServerRefusal, nullIfRefused, Unreachable } from '../client/failures.ts';
import { renewalTime } from '../client/token.ts';
import { Fault } from '../fault.ts';
import { type Keeper, readLogin, readLoginName, storeLogin } from '../settings/credentials.ts';
import { type ExpectedServer, expectedAt, knownServers } from '../settings/known-servers.ts';
import { addressesOf, hasSeveralAddresses, isLoopback, type Settings } from '../settings/settings.ts';

interface Options {
  readonly settings: Settings;
  /** The name under which logins to this server are stored. */
  readonly identity: () => string;
  readonly notice: (text: string) => void;
  /** Advice if there is no stored login. */
  readonly loginHint: () => string;
  /** How to accept a server that the profile does not know. */
  readonly acceptHint: string;
}

/** Milliseconds for which a server that was recognized is trusted on plain HTTP: another program may listen there later. */
const recognizedMs = 10_000;

/** The session with a registry. */
export class RegistrySession implements ClientSession {
  readonly #options: Options;
  #token: string | null = null;
  #keeper: Keeper | null = null;
  #username = '';
  #renewal: Promise<void> | null = null;
  /** When an address gave a proof, on the monotonic clock; long ago if it needed none. */
  readonly #recognizedAt = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  async token(client: Client): Promise<string> {
    this.#token ??= await this.#load(client);
    await this.#recognize(client, this.#token);
    if (renewalTime(this.#token) <= Date.now()) {
      this.#renewal ??= this.#renew(client, this.#token);
      await this.#renewal;
    }
    return this.#token;
  }

  async #load(client: Client): Promise<string> {
    const { settings, notice } = this.#options;
    // The identity depends on which server answers.
    await client.address();
    const identity = this.#options.identity();
    if (settings.token !== null) {
      const stored = readLoginName(settings, identity);
      if (stored !== null) notice(`using the token in DEVMGR_TOKEN, not the stored login of ${stored}`);
      return settings.token;
    }
    const login = await readLogin(settings, identity);
    if (login === null) {
      // If there is no server, that is what to report, not the missing login.
      await nullIfRefused(client.send({ operation: 'getHealth', retry: 'none' }));
      throw new Fault(
        'login',
        `not logged in to ${settings.server ?? 'the local daemon'} (profile ${settings.profile})`,
        this.#options.loginHint(),
      );
    }
    this.#keeper = login.keeper;
    this.#username = login.username;
    return login.token;
  }

  /**
   * Refuses a server that is not the one the profile has met, before it gets a token: on plain HTTP to this machine, where
   * another user may listen, and at each renewal. The Unix socket needs no proof, and TLS has its own. Of several addresses,
   * one that the profile has not met must be the same registry as those that it has.
   */
  async #recognize(client: Client, token: string): Promise<void> {
    if (client.socketPath !== null) return;
    const origin = await client.address();
    const isOpen = origin.startsWith('http:') && isLoopback(origin);
    const { settings, acceptHint } = this.#options;
    const isFirst = hasSeveralAddresses(settings.server) && !this.#recognizedAt.has(origin);
    const isTrusted = !isOpen && renewalTime(token) > Date.now();
    if (isTrusted && !isFirst) return;
    if (performance.now() - (this.#recognizedAt.get(origin) ?? Number.NEGATIVE_INFINITY) < recognizedMs) return;
    const { known, isMet } = this.#expectedAt(origin);
    if (known === null) return;
    if (isTrusted && isMet) return void this.#recognizedAt.set(origin, Number.NEGATIVE_INFINITY);
    const { demandKnown } = await import('./server-identity.ts');
    const met = await demandKnown(client, known, acceptHint);
    if (!isMet) await knownServers.store(settings, origin, met);
    this.#recognizedAt.set(origin, performance.now());
  }

  #expectedAt(origin: string): ExpectedServer {
    const { settings, identity } = this.#options;
    const { server } = settings;
    // A service with an address of its own has one address even if the registry has several.
    if (hasSeveralAddresses(server) && addressesOf(server).includes(origin))
      return expectedAt(settings, addressesOf(server), origin);
    return { known: knownServers.read(settings, identity()), isMet: true };
  }

  /** If the server refuses, the old token stays in use: the next request then reports why it is not valid. */
  async #renew(client: Client, token: string): Promise<void> {
    try {
      const { data: fresh } = await client.send({ operation: 'refreshToken', token, key: null, retry: 'none' });
      this.#token = fresh.token;
      const { settings } = this.#options;
      if (this.#keeper !== null) {
        const login = { token: fresh.token, expireTime: fresh.expireTime, username: this.#username };
        await storeLogin(settings, this.#options.identity(), login, this.#keeper);
      }
      // The new token may be due for renewal at once; then the next request renews it.
      if (renewalTime(fresh.token) > Date.now()) this.#renewal = null;
    } catch (error) {
      // A limit or a failure has no information about the token: the next request tries again.
      if (isServerRefusal(error) && !isServerRefusal(error, 429, 500)) return;
      this.#renewal = null;
    }
  }
}

/** The session with the hardware service of this machine: the token that the daemon writes to its home for this user. */
export class LocalHardwareSession implements ClientSession {
  readonly #home: string;
  /** Whether there has been a token: a daemon that stops removes it. */
  #hadToken = false;

  constructor(home: string) {
    this.#home = home;
  }

  async token(client: Client): Promise<string> {
    // A daemon that has to be started writes its token as it starts.
    await client.address();
    try {
      const token = readFileSync(join(this.#home, homeFiles.localToken), 'utf8').trim();
      this.#hadToken = true;
      return token;
    } catch {
      // The earlier token is not sent: another program may listen at the daemon's address by now.
      if (this.#hadToken) throw new Unreachable('the local daemon has stopped', false, 'start it: devmgr daemon start');
      throw new Fault(
        'login',
        `the local daemon has not written a token to ${this.#home}`,
        'check that it is running and that it is yours: devmgr daemon status',
      );
    }
  }
}
