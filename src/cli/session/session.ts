/** Which token goes with a request: DEVMGR_TOKEN, else that of the stored login, renewed before it ends. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeFiles } from '../../contract/local.ts';
import type { Client, Session } from '../client/client.ts';
import { isRefusal, Unreachable } from '../client/failures.ts';
import { dueAt } from '../client/token.ts';
import { Fault } from '../fault.ts';
import { type Keeper, readLogin, readLoginName, storeLogin } from '../settings/credentials.ts';
import type { Settings } from '../settings/settings.ts';

export interface RegistrySessionOptions {
  readonly settings: Settings;
  /** The name under which tokens of this server are kept. */
  readonly identity: () => string;
  readonly notice: (text: string) => void;
  /** What to do if there is no stored login. */
  readonly loginHint: string;
}

export class RegistrySession implements Session {
  readonly #options: RegistrySessionOptions;
  #token: string | null = null;
  #keeper: Keeper | null = null;
  #username = '';
  #renewal: Promise<void> | null = null;

  constructor(options: RegistrySessionOptions) {
    this.#options = options;
  }

  async token(client: Client): Promise<string> {
    this.#token ??= await this.#load(client);
    if (dueAt(this.#token) <= Date.now()) {
      this.#renewal ??= this.#renew(client, this.#token);
      await this.#renewal;
    }
    return this.#token;
  }

  async #load(client: Client): Promise<string> {
    const { settings, notice } = this.#options;
    // Whose tokens are good shows when it is known who answers.
    await client.address();
    const identity = this.#options.identity();
    if (settings.token !== null) {
      const stored = readLoginName(settings, identity);
      if (stored !== null) notice(`using the token in DEVMGR_TOKEN, not the stored login of ${stored}`);
      return settings.token;
    }
    const login = await readLogin(settings, identity);
    if (login === null) {
      // Where there is no server, that is the news, not that nobody is logged in to it.
      await client.callAs(null, 'health').catch(error => {
        if (!isRefusal(error)) throw error;
      });
      throw new Fault(
        'login',
        `not logged in to ${settings.server ?? 'the local daemon'} (profile ${settings.profile})`,
        this.#options.loginHint,
      );
    }
    this.#keeper = login.keeper;
    this.#username = login.username;
    return login.token;
  }

  /** A token that is refused is used on: the request that follows says why it is no good. */
  async #renew(client: Client, token: string): Promise<void> {
    try {
      const fresh = (await client.callAs(token, 'refresh')) as { token: string; expireTime: string };
      this.#token = fresh.token;
      const { settings } = this.#options;
      if (this.#keeper !== null) {
        const login = { token: fresh.token, expireTime: fresh.expireTime, username: this.#username };
        await storeLogin(settings, this.#options.identity(), login, this.#keeper);
      }
      // What comes back may be as short-lived as the last one; then the next request asks again.
      if (dueAt(fresh.token) > Date.now()) this.#renewal = null;
    } catch (error) {
      // A limit that is reached, or a disk that is full, says nothing of the token: the next request asks again.
      if (isRefusal(error) && !isRefusal(error, 429, 500)) return;
      this.#renewal = null;
    }
  }
}

/** The session with the hardware service of this machine: the token that the daemon leaves in its home for this user. */
export class LocalHardwareSession implements Session {
  readonly #home: string;
  /** There has been a token: a daemon that stops takes it away. */
  #known = false;

  constructor(home: string) {
    this.#home = home;
  }

  async token(client: Client): Promise<string> {
    // A daemon that has to be started leaves its token as it starts.
    await client.address();
    try {
      const token = readFileSync(join(this.#home, homeFiles.localToken), 'utf8').trim();
      this.#known = true;
      return token;
    } catch {
      // An earlier one is not sent: where the daemon was, anybody may listen by now.
      if (this.#known) throw new Unreachable('the local daemon has ended', false, 'start it: devmgr daemon start');
      throw new Fault(
        'login',
        `the local daemon has left no token in ${this.#home}`,
        'is it running, and is it yours? devmgr daemon status',
      );
    }
  }
}
