/** Logins with a security key: alone, after a password, and again within a session. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type { AssertionResponse } from '../../src/contract/webauthn.ts';
import type { Guessing } from '../accounts/guessing.ts';
import * as present from '../accounts/present.ts';
import type { Tokens } from '../accounts/tokens.ts';
import { type AccessJournal, accessOf } from '../requests/access-journal.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Context, Service, type ServiceParts } from '../requests/context.ts';
import { type RelyingParty, requireSite } from '../requests/relying-party.ts';
import { Assertions } from './assertions.ts';
import type { KeyJudge, LocalJudge } from './judges.ts';
import type { SignedChallenges } from './signed-challenges.ts';
import { AnswerRefused, requestOptions } from './webauthn-library.ts';

/** Dependencies of the service. */
interface KeySignInParts extends ServiceParts {
  readonly challenges: SignedChallenges;
  readonly tokens: Tokens;
  readonly guessing: Guessing;
  readonly local: LocalJudge & KeyJudge;
  /** Absent if logins need no entries. */
  readonly access?: AccessJournal;
}

/** `data` of the refusal of a password that needs a second step. */
interface SecondStep {
  /** Options of the browser; null if keys cannot be used at this address. */
  readonly secondFactor: object | null;
  readonly loginTicket: string;
}

const LIFE_MS = passkeyBounds.challengeSeconds * 1000;
const ALONE = 'sign in';
const stepUpPurpose = ({ caller: { user, loginAt } }: Context) =>
  `step up ${user!.number} ${user!.tokenEpoch} ${loginAt}`;

/** A refusal is thrown as an `ApiError`. `site`: of the request, or why there is none. */
export class KeySignIn extends Service<KeySignInParts> {
  readonly #assertions: Assertions;

  constructor(parts: KeySignInParts) {
    super(parts);
    this.#assertions = new Assertions(parts);
  }

  /** Options for any account: the key names the account. */
  async options(site: RelyingParty | string): Promise<Data<'getSignInOptions'>> {
    const challenge = this.#challenge(ALONE);
    return { options: await requestOptions({ ...this.#request(site, challenge), allowed: null }) };
  }

  /** Data for the second step of a user whose password was right. */
  async secondStep(user: UserRecord, site: RelyingParty | string): Promise<SecondStep> {
    const ticket = this.#challenge(ticketPurpose(user));
    const loginTicket = `${user.number}.${user.tokenEpoch}.${ticket}`;
    if (typeof site === 'string') return { secondFactor: null, loginTicket };
    return { secondFactor: await this.#optionsFor(user, site, `ticket ${loginTicket}`), loginTicket };
  }

  /** Alone, or the second step of a login. `from`: the request, for the journal. */
  async login(
    { response: answer, loginTicket, session }: Body<'signInWithKey'>,
    site: RelyingParty | string,
    from: Pick<Context, 'address' | 'requestId'>,
  ): Promise<Data<'signInWithKey'>> {
    const known = requireSite(site);
    let account: string | null = null;
    try {
      const first = loginTicket ? this.#firstStep(loginTicket) : null;
      const purpose = loginTicket ? `ticket ${loginTicket}` : ALONE;
      const asked = { purpose, site: known, user: first?.user ?? null, requestId: from.requestId };
      const user = await this.#assertions.accept(answer, asked, seen => {
        account = seen.username;
      });
      if (first && user.tokenEpoch !== first.epoch) throw new AnswerRefused('password changed since the first step');
      const sso = await (first
        ? this.parts.local.demandLocal(user, from.address)
        : this.parts.local.admitKey(user, answer.id, from.address));
      const opened = { console: session === 'CONSOLE', withKey: true, sso: sso ?? undefined };
      const issued = this.parts.tokens.issue(user, undefined, opened);
      this.#record('LOGIN_SUCCEEDED', { account, ...from }, {});
      return present.login(user, issued);
    } catch (error) {
      const isAnswer = error instanceof AnswerRefused;
      const isForbidden = error instanceof ApiError && error.code === Code.noPermission;
      const reason = isAnswer ? error.message : 'local sign-in not allowed';
      if (isAnswer || isForbidden) this.#record('LOGIN_FAILED', { account, ...from }, { reason });
      throw isAnswer ? notAccepted() : error;
    }
  }

  async stepUpOptions(context: Context, site: RelyingParty | string): Promise<Data<'getStepUpOptions'>> {
    return { options: await this.#optionsFor(context.caller.user!, requireSite(site), stepUpPurpose(context)) };
  }

  /** Refuses a key that is not accepted like a wrong confirmation. */
  async confirm(context: Context, answer: AssertionResponse, site: RelyingParty | string): Promise<void> {
    const user = context.caller.user!;
    const asked = {
      purpose: stepUpPurpose(context),
      site: requireSite(site),
      user: user.number,
      requestId: context.requestId,
    };
    let reason = '';
    const caller = { name: user.username, user: user.number };
    const right = await this.parts.guessing.confirmation(caller, [user.number], async open => {
      if (!open.has(user.number)) return false;
      try {
        await this.#assertions.accept(answer, asked);
        return true;
      } catch (error) {
        if (!(error instanceof AnswerRefused)) throw error;
        reason = error.message;
        return false;
      }
    });
    if (right) return;
    const detail = { field: 'response', reason };
    this.parts.access?.record({ type: 'CONFIRMATION_FAILED', ...accessOf(context), detail });
    throw notAccepted();
  }

  async #optionsFor(user: UserRecord, site: RelyingParty, purpose: string): Promise<object> {
    const keys = await this.store.passkeysOf(user.number);
    const allowed = keys.filter(({ rpId }) => rpId === site.id);
    return requestOptions({ ...this.#request(site, this.#challenge(purpose)), allowed });
  }

  #request(site: RelyingParty | string, challenge: string) {
    return { site: requireSite(site), challenge, milliseconds: LIFE_MS };
  }

  #challenge(purpose: string): string {
    return this.parts.challenges.create(purpose, this.now() + LIFE_MS);
  }

  /** The user whose password was right. Throws `AnswerRefused`. */
  #firstStep(loginTicket: string): { readonly user: number; readonly epoch: number } {
    const [, number, epoch, ticket = ''] = /^(\d{1,15})\.(\d{1,15})\.([\w-]+)$/.exec(loginTicket) ?? [];
    const first = { number: Number(number), tokenEpoch: Number(epoch) };
    if (!this.parts.challenges.open(ticketPurpose(first), ticket, this.now()))
      throw new AnswerRefused('ticket unknown or expired');
    return { user: first.number, epoch: first.tokenEpoch };
  }

  #record(
    type: 'LOGIN_SUCCEEDED' | 'LOGIN_FAILED',
    who: { readonly account: string | null; readonly address: string; readonly requestId: string },
    detail: Readonly<Record<string, string>>,
  ): void {
    const { account, address, requestId } = who;
    this.parts.access?.record({ type, account, address, requestId, detail: { method: 'key', ...detail } });
  }
}

const ticketPurpose = ({ number, tokenEpoch }: Pick<UserRecord, 'number' | 'tokenEpoch'>) =>
  `password of ${number} ${tokenEpoch}`;

/** One message for every reason. */
const notAccepted = () => new ApiError(Code.tokenInvalid, 'the security key was not accepted');
