/** Logins of terminals that a person approves in a browser. */

import { randomBytes } from 'node:crypto';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { terminalLogin } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import * as present from '../accounts/present.ts';
import type { Tokens, VerifiedToken } from '../accounts/tokens.ts';
import { clientOf } from '../base/loopback.ts';
import { newSecret, secretDigest } from '../base/single-use.ts';
import { iso } from '../base/time.ts';
import type { AccessJournal } from '../requests/access-journal.ts';
import { type Context, Service, type ServiceParts } from '../requests/context.ts';
import type { WaitingTerminals } from '../store/short-lived.ts';
import type { Store } from '../store/store.ts';
import { type ReopenParts, userToReopen } from './codes.ts';
import { keyNeeded } from './policies.ts';
import type { SignedChallenges } from './signed-challenges.ts';
import { userCodeOf, userCodeSymbols } from './user-code.ts';

/** Dependencies of the service. */
interface TerminalLoginParts extends ServiceParts<Pick<Store, 'user'>> {
  readonly terminals: WaitingTerminals;
  readonly challenges: SignedChallenges;
  readonly tokens: Tokens;
  readonly policies: ReopenParts['policies'];
  readonly access: AccessJournal;
}

/** The origin of a request, shown to the person who approves it. Times are milliseconds since 1970. */
interface Origin {
  readonly name: string;
  readonly address: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const PURPOSE = 'terminal';
const codeDigest = (userCode: string) => secretDigest(`terminal code ${userCode}`);
const terminalDigest = (requestId: string, secret: string) => secretDigest(`terminal login ${requestId} ${secret}`);

/** A refusal is thrown as an `ApiError`. */
export class TerminalLogins extends Service<TerminalLoginParts> {
  async create(
    { address }: Pick<Context, 'address'>,
    { name }: Body<'createTerminalLogin'>,
  ): Promise<Data<'createTerminalLogin'>> {
    const createdAt = this.now();
    const expiresAt = createdAt + terminalLogin.seconds * 1000;
    const requestId = this.parts.challenges.create(PURPOSE, expiresAt);
    const secret = newSecret();
    // 40 random bits: only people who are signed in can try codes.
    const userCode = userCodeOf(randomBytes(userCodeSymbols));
    const shown: Origin = { name, address, createdAt, expiresAt };
    const request = {
      code: codeDigest(userCode),
      terminal: terminalDigest(requestId, secret),
      network: clientOf(address),
      shown: JSON.stringify(shown),
    };
    await this.parts.terminals.add(request, terminalLogin.seconds * 1000);
    return { requestId, userCode, secret, expireTime: iso(expiresAt) };
  }

  async show({ userCode }: Body<'showTerminalLogin'>): Promise<Data<'showTerminalLogin'>> {
    const code = writtenCode(userCode);
    const { name, address, createdAt, expiresAt } = this.#parsed(await this.parts.terminals.find(codeDigest(code)));
    return { userCode: code, name, address, createdAt: iso(createdAt), expireTime: iso(expiresAt) };
  }

  /** The caller is a person: only people may approve. `token`: that of the request. */
  async approve(
    { caller: { user, session } }: Pick<Context, 'caller'>,
    token: string,
    { userCode }: Body<'approveTerminalLogin'>,
  ): Promise<Data<'approveTerminalLogin'>> {
    const { policies, tokens } = this.parts;
    if (!(await policies.mayContinue(user!, session))) throw keyNeeded();
    const login = await tokens.verified(token);
    const code = writtenCode(userCode);
    // The store compares with its own clock: what it has approved is approved.
    if ((await this.parts.terminals.approve(codeDigest(code), JSON.stringify(login))) === null) throw unknownCode();
    return { userCode: code, approved: true };
  }

  /** `from`: the request, for the journal. */
  async take(
    { requestId, secret }: Body<'takeTerminalLogin'>,
    from: Pick<Context, 'address' | 'requestId'>,
  ): Promise<Data<'takeTerminalLogin'>> {
    const { challenges, tokens, access } = this.parts;
    if (!challenges.open(PURPOSE, requestId, this.now())) throw ended();
    const approved = await this.parts.terminals.take(terminalDigest(requestId, secret));
    if (approved === null) return { state: 'PENDING', login: null };
    const login = JSON.parse(approved) as VerifiedToken;
    const user = await userToReopen(login, this.parts);
    if (!user) throw ended();
    const { signedInAt, withKey, sso } = login.session;
    // The new session has the time of the sign-in behind the approval, so a session cannot prolong itself by approving others.
    const opened = { signedInAt, withKey, sso };
    const issued = tokens.issue(user, sso === undefined ? signedInAt : login.loginAt, opened);
    access.record({ type: 'LOGIN_SUCCEEDED', account: user.username, ...from, detail: { method: 'terminal' } });
    return { state: 'APPROVED', login: present.login(user, issued) };
  }

  /** The request. Throws 404 if it does not exist or, by this daemon's clock, has expired. */
  #parsed(found: string | null): Origin {
    const shown = found === null ? null : (JSON.parse(found) as Origin);
    if (!shown || shown.expiresAt <= this.now()) throw unknownCode();
    return shown;
  }
}

/** The code that a person has typed, as it was created. */
function writtenCode(typed: string): string {
  const symbols = typed.toUpperCase().replace(/[\s-]/g, '');
  return `${symbols.slice(0, userCodeSymbols / 2)}-${symbols.slice(userCodeSymbols / 2)}`;
}

const unknownCode = () =>
  new ApiError(404, 'no terminal is waiting for this code: it is wrong, was used or has expired');
const ended = () => new ApiError(Code.tokenInvalid, 'the request of this terminal is unknown, was used or has expired');
