/** The sessions that came from the provider: checked there while they are used, and ended when they end there. */

import { randomBytes } from 'node:crypto';
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { dayMs } from '../../src/contract/durations.ts';
import { ssoBounds } from '../../src/contract/limits.ts';
import type { Data } from '../../src/contract/routes.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import { ClientRefused, ProviderAway, SessionOver, SignInDenied, TokenRefused } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Binding, openSecret, sealSecret } from '../base/sealed.ts';
import type { UserRecord } from '../requests/callers.ts';
import { retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { SessionJudge } from '../sign-in/judges.ts';
import { SESSIONS, versionOfSession } from '../store/caller.ts';
import type { Counters } from '../store/short-lived.ts';
import { type CommitNotice, maxBehindMs } from '../store/store.ts';
import type { SsoAccounts } from './accounts.ts';
import type { ProviderTokens, SignedIn } from './provider.ts';
import * as domain from './records.ts';
import type { ActiveSso, SsoSettingsService } from './settings.ts';

interface SsoSessionsParts extends ServiceParts {
  readonly settings: SsoSettingsService;
  readonly accounts: SsoAccounts;
  readonly counters: Counters;
  /** The key that seals tokens of the provider: that of all nodes. */
  readonly sealingKey: Uint8Array;
  /** Days after which a session ends. */
  readonly days: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** The tokens of a session as they are sealed. */
interface SessionTokens {
  readonly sub: string;
  readonly tokens: ProviderTokens;
}

const CHECK_MS = ssoBounds.checkSeconds * 1000;
/** A check that began so recently may still be running, on any node: with the same refresh token, a second one would end the session. */
const RUNNING_MS = 8000;

/** A logout token ends sessions once. Remembered for longer than tokens are accepted after their issue. */
const once = { scope: 'logout token', most: 1, milliseconds: 2000 * ssoBounds.logoutSeconds };

const over = () =>
  new ApiError(Code.tokenInvalid, 'the session at the provider of single sign-on has ended; sign in again');
const boundOf = (user: number): Binding => ({ subject: user, place: 'tokens of the provider' });
const without = (sessions: readonly domain.SsoSession[], id: string) => sessions.filter(session => session.id !== id);

/** A refusal is thrown as an `ApiError`. */
export class SsoSessions extends Service<SsoSessionsParts> implements SessionJudge {
  /** When a session was checked, in milliseconds since 1970; by `USER/ID`. Forgotten when any user changes: a session may have ended. */
  readonly #checked = new Map<string, number>();
  readonly #renewals = new KeyedMutex<string>();
  /** Raised when `#checked` is forgotten. */
  #epoch = 0;
  /** Commits are watched from the first session on that is checked. */
  #isWatching = false;

  /** Adds a session of a user. Returns its id. Refuses with 1004 if the settings were changed since the sign-in began to use them. */
  async add(user: UserRecord, active: ActiveSso, signedIn: SignedIn): Promise<string> {
    const session = this.#sessionOf(user, active, signedIn);
    const isOpen = ({ id }: domain.SsoSession) => versionOfSession(id) === active.sessions;
    await this.#change(user.number, active.sessions, sessions => [...sessions.filter(isOpen), session]);
    return session.id;
  }

  #sessionOf(user: UserRecord, { config, sessions }: ActiveSso, { sub, sid, tokens }: SignedIn): domain.SsoSession {
    const { days } = this.parts;
    return {
      id: domain.sessionId(sessions, randomBytes(16).toString('base64url')),
      provider: domain.providerOf(config),
      sid: sid === null ? null : domain.sidOf(config.issuer, sid),
      sealed: this.#seal(user.number, { sub, tokens }),
      checkedAt: this.now(),
      confirmedAt: this.now(),
      endsAt: this.now() + days * dayMs,
    };
  }

  /** Whether the session was checked a moment ago. Reads nothing. */
  isFresh(user: number, id: string): boolean {
    const at = this.#checked.get(`${user}/${id}`);
    return at !== undefined && this.#isRecent(at) && this.store.behind() < maxBehindMs;
  }

  /** Checks the session, at the provider if it was not checked there a moment ago. Refuses with 1004 one that has ended. */
  async check(user: number, id: string): Promise<void> {
    if (this.isFresh(user, id)) return;
    this.#watch();
    const epoch = this.#epoch;
    const { session } = await this.find(user, id);
    const at = this.#isRecent(session.checkedAt) ? session.checkedAt : await this.#renew(user, id, CHECK_MS, true);
    if (epoch === this.#epoch) this.#checked.set(`${user}/${id}`, at);
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.store.onCommit(({ users, everything }: CommitNotice) => {
      if (users.length === 0 && !everything) return;
      this.#epoch++;
      this.#checked.clear();
    });
  }

  async demand(user: number, id: string): Promise<void> {
    await this.#renew(user, id, RUNNING_MS, false);
  }

  /** Ends what a logout token of the provider names; a repeated token ends nothing. Refuses with 1001 one that is not valid. */
  async logout(token: string): Promise<Data<'logoutSso'>> {
    const { settings, accounts, counters } = this.parts;
    const { config, provider } = await settings.active();
    const { sub, sid, id } = await provider.logoutToken(token).catch(error => {
      if (!(error instanceof TokenRefused)) throw error;
      throw inputError('logout_token', 'is not valid');
    });
    if ((await counters.blockedFor(once.scope, id, once.most)) > 0) return { ended: 0 };
    const user = sub === null ? null : await accounts.find({ issuer: config.issuer, sub });
    if (sub !== null && !user) return { ended: 0 };
    const rows = user ? [await this.store.ssoSessions(user.number)] : await this.store.allSsoSessions();
    const digest = sid === null ? null : domain.sidOf(config.issuer, sid);
    const version = await this.store.documentVersion(SESSIONS);
    // A session for which the provider has not named an id, such as that of a key, ends with any session of the person.
    const endingIn = (sessions: readonly domain.SsoSession[]) => {
      const open = sessions.filter(session => versionOfSession(session.id) === version);
      const isPerson = user !== null || open.some(session => session.sid === digest);
      return open.filter(({ sid }) => digest === null || sid === digest || (isPerson && sid === null));
    };
    let ended = 0;
    for (const row of rows) {
      const named = endingIn(row?.sessions ?? []);
      if (row && named.length > 0)
        await this.#end(
          row.number,
          named.map(({ id }) => id),
          'logout at the provider',
        );
      ended += named.length;
    }
    // After the sessions have ended: the provider repeats a token that was not answered.
    await counters.take({ ...once, key: id });
    return { ended };
  }

  #isRecent(at: number): boolean {
    const age = this.now() - at;
    return age >= 0 && age < CHECK_MS;
  }

  /** Refuses with 1004 a session that has ended. */
  async find(user: number, id: string) {
    const [row, version] = await Promise.all([this.store.ssoSessions(user), this.store.documentVersion(SESSIONS)]);
    const session = row?.sessions.find(one => one.id === id);
    if (!row || !session || session.endsAt <= this.now() || versionOfSession(id) !== version) throw over();
    return { row, session };
  }

  /** Checks with the provider, unless a node has within `age` milliseconds. Returns the time. `lenient`: accepts no response. */
  #renew(user: number, id: string, age: number, lenient: boolean): Promise<number> {
    return this.#renewals.run(`${user}/${id}`, async () => {
      const { settings, log } = this.parts;
      const { session, isMine } = await this.#claim(user, id, age);
      if (!isMine) {
        // Otherwise a session could be renewed for as long as the provider is away.
        if (!lenient && this.now() - session.confirmedAt > 2 * CHECK_MS)
          throw (await settings.active()).provider.refusal ?? new ProviderAway('not confirmed lately');
        return session.checkedAt;
      }
      try {
        await this.#ask(user, session);
      } catch (error) {
        if (!(error instanceof ProviderAway) || !lenient) throw error;
        // The session continues until its own end.
        const what = error instanceof ClientRefused ? 'does not accept this registry' : 'does not respond';
        log.warn({ reason: error.message }, `the provider of single sign-on ${what}: its sessions continue`);
      }
      return this.now();
    });
  }

  /** Only one of several nodes asks the provider. */
  #claim(
    user: number,
    id: string,
    age: number,
  ): Promise<{ readonly session: domain.SsoSession; readonly isMine: boolean }> {
    return retrying(async () => {
      const { row, session } = await this.find(user, id);
      if (Math.abs(this.now() - session.checkedAt) < age) return { session, isMine: false };
      const claimed = { ...session, checkedAt: this.now() };
      await this.parts.accounts.commit([domain.setSessions(row, [...without(row.sessions, id), claimed], this.now())]);
      return { session: claimed, isMine: true };
    });
  }

  async #ask(user: number, session: domain.SsoSession): Promise<void> {
    const { settings, sealingKey } = this.parts;
    const active = await settings.active().catch(error => {
      if (error instanceof ApiError) return null;
      throw error;
    });
    const opened = openSecret(sealingKey, boundOf(user), session.sealed);
    const isOurs = active && domain.providerOf(active.config) === session.provider && opened !== null;
    if (!isOurs) throw await this.#ended(user, session.id, 'single sign-on was changed');
    const { sub, tokens } = JSON.parse(opened) as SessionTokens;
    try {
      await this.#follow(user, session.id, active, await active.provider.renew(tokens, sub));
    } catch (error) {
      if (error instanceof SessionOver)
        throw await this.#ended(user, session.id, 'the session at the provider has ended');
      if (error instanceof TokenRefused || error instanceof SignInDenied)
        throw await this.#ended(user, session.id, 'the response of the provider is not valid');
      throw error;
    }
  }

  /** Applies what the provider now reports about the person. Removal from all groups ends every session of the account. */
  async #follow(
    user: number,
    id: string,
    { config }: ActiveSso,
    { sub, name, tokens, groups, isOverage }: SignedIn,
  ): Promise<void> {
    const { accounts } = this.parts;
    const admitted = isOverage ? null : await accounts.admittanceOf(config, { sub, name, groups });
    const role = admitted?.role ?? null;
    const version = versionOfSession(id);
    const followed = await retrying(async () => {
      const guards = await accounts.guardsOf(version);
      const record = await this.store.user(user);
      if (record && role !== null) return accounts.withRole(record, role, guards);
      if (record) await accounts.logOut(record, guards);
      return null;
    });
    if (followed === null)
      throw await this.#ended(user, id, isOverage ? 'the provider leaves the groups out' : 'in none of the groups');
    if (followed instanceof Refusal)
      throw await this.#ended(user, id, 'the last enabled ADMIN is in another group now');
    const sealed = this.#seal(user, { sub, tokens });
    await this.#change(user, version, sessions =>
      sessions.map(session => (session.id === id ? { ...session, sealed, confirmedAt: this.now() } : session)),
    );
  }

  /** Ends a session. Returns the refusal of its tokens. */
  async #ended(user: number, id: string, reason: string): Promise<ApiError> {
    await this.#end(user, [id], reason);
    return over();
  }

  async #end(user: number, ids: readonly string[], reason: string): Promise<void> {
    await retrying(async () => {
      const [row, record] = await Promise.all([this.store.ssoSessions(user), this.store.user(user)]);
      if (!row || !record) return;
      const rest = row.sessions.filter(({ id }) => !ids.includes(id));
      if (rest.length === row.sessions.length) return;
      const entry = domain.sessionsEnded(record, row.sessions.length - rest.length, reason);
      await this.parts.accounts.commit([domain.setSessions(row, rest, this.now()), entry]);
    });
  }

  /** `version`: that of `SESSIONS`. Refuses with 1004 if it has another one now. */
  #change(
    user: number,
    version: number,
    change: (sessions: readonly domain.SsoSession[]) => readonly domain.SsoSession[],
  ): Promise<void> {
    return retrying(async () => {
      const guards = await this.parts.accounts.guardsOf(version);
      const row = (await this.store.ssoSessions(user)) ?? { number: user, version: 0, sessions: [] };
      await this.parts.accounts.commit([domain.setSessions(row, change(row.sessions), this.now())], guards);
    });
  }

  #seal(user: number, sealed: SessionTokens): string {
    return sealSecret(this.parts.sealingKey, boundOf(user), JSON.stringify(sealed));
  }
}
