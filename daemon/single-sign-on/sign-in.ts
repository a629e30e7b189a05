/** Sign-ins at the provider: of a browser, and of a terminal by device code. */

import { createHmac } from 'node:crypto';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { dayMs } from '../../src/contract/durations.ts';
import { ssoBounds } from '../../src/contract/limits.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import * as present from '../accounts/present.ts';
import type { Tokens } from '../accounts/tokens.ts';
import { Refusal } from '../base/decision.ts';
import { SignInDenied } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Binding, openSecret, sealSecret } from '../base/sealed.ts';
import { newSecret, secretDigest } from '../base/single-use.ts';
import { type Clock, iso } from '../base/time.ts';
import type { AccessJournal } from '../requests/access-journal.ts';
import { type Context, WithParts } from '../requests/context.ts';
import type { SignInCodes } from '../sign-in/codes.ts';
import type { SignInPolicies } from '../sign-in/policies.ts';
import type { SignedChallenges } from '../sign-in/signed-challenges.ts';
import type { SsoAccounts } from './accounts.ts';
import type { SignedIn } from './provider.ts';
import type { DeviceCode, ProviderRequests } from './provider-requests.ts';
import * as domain from './records.ts';
import { denied, problemOf, refusalOf, SsoRefused, TerminalRefused } from './refused.ts';
import type { SsoSessions } from './sessions.ts';
import type { ActiveSso, SsoSettingsService } from './settings.ts';
import type { ReturnedTerminal, SsoTerminals } from './terminals.ts';

interface SsoSignInParts extends Clock {
  readonly settings: SsoSettingsService;
  readonly accounts: SsoAccounts;
  readonly sessions: SsoSessions;
  readonly tokens: Tokens;
  readonly codes: SignInCodes;
  readonly challenges: SignedChallenges;
  readonly terminals: SsoTerminals;
  readonly requests: ProviderRequests;
  readonly policies: Pick<SignInPolicies, 'demandOf'>;
  readonly sealingKey: Uint8Array;
  readonly log: Pick<Logger, 'warn'>;
  readonly access: AccessJournal;
}

type From = Pick<Context, 'address' | 'requestId'>;

/** Parameters that the browser returns with. `address`: the complete URL. */
interface Return {
  readonly query: Query<'finishSso'>;
  readonly address: URL;
  /** The cookie of the start; undefined if the browser has none. */
  readonly cookie: string | undefined;
  /** Name that `knownBrowser` gave the browser earlier. */
  readonly known: string | undefined;
}

const KNOWN = 'browser that has signed in';
const purposeOf = (cookie: string) => `single sign-on of ${secretDigest(cookie)}`;

/** Nonce and verifier are derived from the cookie and the state, so no node has to store them. */
function checkOf(cookie: string, state: string) {
  const derived = (what: string) => createHmac('sha256', cookie).update(`${what} ${state}`).digest('base64url');
  return { state, nonce: derived('nonce'), verifier: derived('verifier') };
}

function refuseState(): never {
  throw new SsoRefused('state', 'this sign-in was not started here, was used before or took too long: start again');
}

/** A refusal is thrown as an `SsoRefused` or another `ApiError`. A provider that does not answer: `ProviderAway`. */
export class SsoSignIn extends WithParts<SsoSignInParts> {
  /**
   * `earlier`: the cookie of an earlier start in this browser, so that two tabs can sign in. Returns the one to set; null for a
   * terminal, which gets a secret.
   */
  async start(
    { again, loopbackPort: port, name }: Body<'startSso'>,
    redirectUri: string,
    { earlier, address }: { readonly earlier: string | undefined; readonly address: string },
  ): Promise<{ readonly data: Data<'startSso'>; readonly cookie: string | null }> {
    const { settings, terminals, challenges } = this.parts;
    const { provider } = await settings.active();
    const urlFor = (check: ReturnType<typeof checkOf>) => provider.authorizationUrl(redirectUri, check, again === true);
    if (port !== undefined) {
      const made = terminals.create({ port, name: name ?? null, address });
      return { data: { url: await urlFor(terminals.checkOf(made.state)), ...made }, cookie: null };
    }
    const cookie = earlier !== undefined && isCookie(earlier) ? earlier : newSecret();
    const state = challenges.create(purposeOf(cookie), this.parts.now() + ssoBounds.signInSeconds * 1000);
    return { data: { url: await urlFor(checkOf(cookie, state)), state }, cookie };
  }

  /** Returns what the console gets: a single-use code for a session, or for the question of a terminal. */
  async finish(returned: Return, from: From): Promise<Readonly<Record<string, string>>> {
    const active = await this.parts.settings.active();
    const { state = '' } = returned.query;
    if (!this.parts.terminals.isState(state))
      return this.#recording(from, () => this.#openConsole(active, returned, state, from));
    const terminal = await this.#recording(
      from,
      async () => (await this.parts.terminals.answer(state)) ?? refuseState(),
    );
    try {
      return await this.#recording(from, () => this.#askForTerminal(active, returned, terminal, from));
    } catch (error) {
      const problem = problemOf(error);
      if (problem === null) throw error;
      const message = problem === 'away' ? 'the provider does not answer' : (error as Error).message;
      throw new TerminalRefused(error as Error, await this.parts.terminals.refuse(terminal, { problem, message }));
    }
  }

  /** A name for a browser in which the provider has signed someone in: strangers with the same address do not slow it down. */
  knownBrowser(earlier: string | undefined): string {
    return this.#isKnown(earlier)
      ? earlier
      : this.parts.challenges.create(KNOWN, this.parts.now() + ssoBounds.knownDays * dayMs);
  }

  #isKnown(browser: string | undefined): browser is string {
    return browser !== undefined && this.parts.challenges.open(KNOWN, browser, this.parts.now()) !== null;
  }

  /** Exchanges the code of the provider. */
  #signIn(active: ActiveSso, { address, known }: Return, check: ReturnType<typeof checkOf>, from: From) {
    const client = this.#isKnown(known) ? `browser ${known}` : from.address;
    return this.parts.requests.withCode(client, () => active.provider.signIn(address, check));
  }

  async #openConsole(active: ActiveSso, returned: Return, state: string, from: From) {
    const { query, cookie = '' } = returned;
    const { challenges, codes } = this.parts;
    const answered = isCookie(cookie) ? await challenges.answer(purposeOf(cookie), state, this.parts.now()) : null;
    if (!answered?.isFirst) refuseState();
    if (query.error !== undefined) throw denied();
    const person = await this.#signIn(active, returned, checkOf(cookie, state), from);
    const { token } = await this.#open(active, person, { console: true }, from);
    const { code } = await codes.create({ serviceToken: null }, token, { purpose: 'SESSION' });
    return { code, sso: state };
  }

  /** The terminal gets nothing yet: the browser may have followed a link of another person, and the provider may have asked nothing. */
  async #askForTerminal(active: ActiveSso, returned: Return, terminal: ReturnedTerminal, from: From) {
    const { terminals, accounts } = this.parts;
    if (returned.query.error !== undefined) throw denied();
    const person = await this.#signIn(active, returned, terminals.checkOf(terminal.state), from);
    const { role } = await this.#admitted(active, person);
    const user = await accounts.find({ ...person, issuer: active.config.issuer });
    const shown = { account: user?.username ?? person.name ?? person.sub, role };
    return { terminal: await terminals.ask(terminal, shown, { person, sessions: active.sessions }) };
  }

  /** Code that the person compares before the browser is led to the terminal. */
  async showTerminal({ code }: Body<'showSsoTerminal'>): Promise<Data<'showSsoTerminal'>> {
    return (await this.parts.terminals.show(code)) ?? refuseState();
  }

  /** Ends the sign-in of a terminal. */
  async take({ secret, state = '', code = '', error }: Body<'takeSso'>, from: From): Promise<Data<'takeSso'>> {
    const active = await this.parts.settings.active();
    const taken = error === undefined ? await this.parts.terminals.take(secret, state, code) : null;
    // The journal has had the refusal since the browser came back.
    if (taken && 'problem' in taken) throw new SsoRefused(taken.problem, taken.message);
    return this.#recording(from, async () => {
      if (error !== undefined) throw denied();
      if (taken?.sessions !== active.sessions) refuseState();
      return this.#open(active, taken.person, { console: false }, from);
    });
  }

  async startDevice(from: From): Promise<Data<'startSsoDevice'>> {
    const { requests, settings } = this.parts;
    const { config, provider } = await settings.active();
    const start = () => requests.start(from.address, () => provider.startDevice()).catch(withoutDeviceCodes);
    const answer = await this.#recording(from, start);
    const endsAt = this.parts.now() + Math.round(Math.min(answer.expires_in, ssoBounds.codeSeconds) * 1000);
    const interval = Math.min(Math.max(answer.interval ?? 5, 1), 60);
    return {
      deviceCode: this.#sealCode({ code: answer.device_code, interval }, endsAt, config),
      userCode: answer.user_code,
      verificationUri: answer.verification_uri,
      verificationUriComplete: answer.verification_uri_complete ?? null,
      interval,
      expireTime: iso(endsAt),
    };
  }

  async pollDevice({ deviceCode }: Body<'pollSsoDevice'>, from: From): Promise<Data<'pollSsoDevice'>> {
    const active = await this.parts.settings.active();
    const opened = this.#openCode(deviceCode, active.config);
    const { code, interval } = opened;
    return this.#recording(from, async () => {
      const ask = () => active.provider.pollDevice(code);
      const answer = await this.parts.requests.poll(from.address, opened, ask);
      if (answer === null) return { state: 'PENDING', interval, login: null };
      if ('waits' in answer) return { state: 'PENDING', interval: interval + (answer.slower ? 5 : 0), login: null };
      const login = await this.#open(active, answer, { console: false }, from);
      return { state: 'APPROVED', interval, login };
    });
  }

  /** Opens a session for a person whom the provider has signed in. */
  async #open(active: ActiveSso, person: SignedIn, opened: { readonly console: boolean }, from: From) {
    const { accounts, sessions, tokens, policies, access } = this.parts;
    const { config } = active;
    const admitted = await this.#admitted(active, person);
    const subject = { ...person, issuer: config.issuer, ...admitted };
    const user = await accounts.enter(subject, active.sessions, from.requestId);
    if (user instanceof Refusal) throw new SsoRefused('other', user.message);
    if (user.disabled) throw new SsoRefused('disabled', 'this account is disabled here');
    const { signedInAt, withKey } = domain.strengthOf(config, person);
    if (!withKey && (await policies.demandOf(user)) !== 'password')
      throw new SsoRefused(
        'key',
        'this account must sign in with a security key, and the provider does not report that one was used',
      );
    const sso = await sessions.add(user, active, person);
    const issued = tokens.issue(user, undefined, { ...opened, signedInAt, withKey, sso });
    access.record({ type: 'LOGIN_SUCCEEDED', account: user.username, ...from, detail: { method: 'sso' } });
    return present.login(user, issued);
  }

  /** What a person may do. Refuses one who may do nothing. */
  async #admitted({ config }: ActiveSso, person: SignedIn) {
    if (person.isOverage)
      throw new SsoRefused(
        'overage',
        'the provider leaves the groups out of the token because the person is in too many: configure it to send only the groups that are assigned to devmgr, or application roles',
      );
    const admitted = await this.parts.accounts.admittanceOf(config, person);
    if (!admitted) throw new SsoRefused('groups', 'you are in none of the groups that may use this registry');
    return admitted;
  }

  /** Records in the journal why the sign-in is refused, and returns the refusal. */
  async #recording<T>(from: From, work: () => Promise<T>): Promise<T> {
    const { access, log } = this.parts;
    try {
      return await work();
    } catch (error) {
      const refused = refusalOf(error);
      if (!refused) throw error;
      if (error !== refused) log.warn({ reason: (error as Error).message }, 'a sign-in at the provider was refused');
      access.record({
        type: 'LOGIN_FAILED',
        account: null,
        ...from,
        detail: { method: 'sso', reason: refused.problem },
      });
      throw refused;
    }
  }

  /** The provider's code, sealed into the code of the terminal for this provider, so that no node has to store it. */
  #sealCode(code: DeviceCode, endsAt: number, config: domain.SsoConfig): string {
    return `${endsAt}.${sealSecret(this.parts.sealingKey, deviceCodeOf(endsAt, config), JSON.stringify(code))}`;
  }

  #openCode(text: string, config: domain.SsoConfig): DeviceCode {
    const [, ends = '0', sealed = ''] = /^(\d{1,15})\.([\w-]+)$/.exec(text) ?? [];
    const code = openSecret(this.parts.sealingKey, deviceCodeOf(Number(ends), config), sealed);
    if (code === null || Number(ends) <= this.parts.now())
      throw new SsoRefused('state', 'the request of this terminal is unknown or has expired');
    return JSON.parse(code) as DeviceCode;
  }
}

/** Binding of the seal of a device code. */
const deviceCodeOf = (endsAt: number, config: domain.SsoConfig): Binding => ({
  subject: endsAt,
  place: `device code of ${domain.providerOf(config)}`,
});

function withoutDeviceCodes(error: unknown): never {
  if (!(error instanceof SignInDenied)) throw error;
  throw new ApiError(Code.parameterError, `${error.message}; sign in with a browser: devmgr login --web`);
}

const isCookie = (text: string): boolean => /^[\w-]{43}$/.test(text);
