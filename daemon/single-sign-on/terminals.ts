/**
 * Sign-ins at the provider for a terminal that waits at a port of its machine. The state of the provider has what the person
 * compares, so no node stores a sign-in that has begun. The terminal gets a code only after the person has confirmed it in the
 * console.
 */

import { createHmac } from 'node:crypto';
import { ssoBounds } from '../../src/contract/limits.ts';
import type { Data } from '../../src/contract/routes.ts';
import type { AccountRole, SsoProblem } from '../../src/contract/values.ts';
import { type Binding, openSecret, sealSecret } from '../base/sealed.ts';
import { newSecret, secretDigest } from '../base/single-use.ts';
import type { Clock } from '../base/time.ts';
import { WithParts } from '../requests/context.ts';
import type { SignedChallenges } from '../sign-in/signed-challenges.ts';
import { userCodeOf } from '../sign-in/user-code.ts';
import type { SingleUseCodes } from '../store/short-lived.ts';
import type { SignedIn } from './provider.ts';

interface SsoTerminalsParts extends Clock {
  readonly challenges: SignedChallenges;
  readonly codes: SingleUseCodes;
  readonly sealingKey: Uint8Array;
}

/** Who asks for a sign-in. */
export interface SsoTerminal {
  readonly port: number;
  /** As the terminal has sent it; null if it sent none. */
  readonly name: string | null;
  readonly address: string;
}

/** A terminal whose person comes back from the provider. */
export interface ReturnedTerminal extends SsoTerminal {
  readonly state: string;
  /** Digest of the secret that the terminal has. */
  readonly holder: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A person whom the provider has signed in. `sessions`: see `ActiveSso`. */
interface SsoPerson {
  readonly person: SignedIn;
  readonly sessions: number;
}

/** Why no one was signed in at the provider. */
interface TerminalRefusal {
  readonly problem: SsoProblem;
  readonly message: string;
}

/** Record that waits for the person: the terminal, and what it will get, sealed. */
interface WaitingPress extends ReturnedTerminal {
  readonly account: string;
  readonly role: AccountRole;
  readonly sealed: string;
}

const stateForm = /^([\w-]{51})\.([1-9]\d{0,4})\.([\w-]{1,940})$/;
const purposeOf = (port: number, sealed: string) => `single sign-on of the terminal ${port} ${sealed}`;
const pressDigest = (ticket: string) => secretDigest(`single sign-on press ${ticket}`);
const codeDigest = (holder: string, state: string, code: string) =>
  secretDigest(`single sign-on code ${holder} ${state} ${code}`);

export class SsoTerminals extends WithParts<SsoTerminalsParts> {
  /** Begins a sign-in. `secret`: for the terminal alone. */
  create(terminal: SsoTerminal): { readonly state: string; readonly secret: string; readonly userCode: string } {
    const { challenges, sealingKey } = this.parts;
    const secret = newSecret();
    const { port, name, address } = terminal;
    const sealed = sealSecret(
      sealingKey,
      terminalAt(port),
      JSON.stringify({ name, address, holder: secretDigest(secret) }),
    );
    const challenge = challenges.create(purposeOf(port, sealed), this.parts.now() + ssoBounds.signInSeconds * 1000);
    const state = `${challenge}.${port}.${sealed}`;
    return { state, secret, userCode: this.#userCode(state) };
  }

  /** Whether a state is that of a terminal, genuine or not. */
  isState(state: string): boolean {
    return stateForm.test(state);
  }

  /** The terminal of a state that was made here, has not expired and is used for the first time; otherwise null. */
  async answer(state: string): Promise<ReturnedTerminal | null> {
    const { challenges, sealingKey } = this.parts;
    const [, challenge = '', portText = '', sealed = ''] = stateForm.exec(state) ?? [];
    const port = Number(portText);
    const answered = await challenges.answer(purposeOf(port, sealed), challenge, this.parts.now());
    const opened = answered?.isFirst ? openSecret(sealingKey, terminalAt(port), sealed) : null;
    if (!answered || opened === null) return null;
    const shown = JSON.parse(opened) as Pick<ReturnedTerminal, 'name' | 'address' | 'holder'>;
    return { ...shown, port, state, expiresAt: answered.challenge.expiresAt };
  }

  /** Binding of the sign-in at the provider. */
  checkOf(state: string) {
    return { state, nonce: this.#derived('nonce', state), verifier: this.#derived('verifier', state) };
  }

  /** Waits for the press of the person. Returns the code of the page that asks. */
  async ask(
    terminal: ReturnedTerminal,
    shown: Pick<WaitingPress, 'account' | 'role'>,
    who: SsoPerson,
  ): Promise<string> {
    const ticket = newSecret();
    const waiting: WaitingPress = { ...terminal, ...shown, sealed: this.#seal(terminal.state, who) };
    await this.#put(pressDigest(ticket), JSON.stringify(waiting), terminal.expiresAt);
    return ticket;
  }

  /** Code that the person compares, once. Null: the code of the page is unknown, was used or has expired. */
  async show(ticket: string): Promise<Data<'showSsoTerminal'> | null> {
    const found = await this.parts.codes.take(pressDigest(ticket));
    if (found === null) return null;
    const { state, holder, port, account, role, name, address, sealed, expiresAt } = JSON.parse(found) as WaitingPress;
    const url = await this.#lead({ holder, state, port, expiresAt }, sealed);
    return { account, role, name, address, userCode: this.#userCode(state), url };
  }

  /** Has the terminal told that no one is signed in. Returns where the browser has to go. */
  refuse(terminal: ReturnedTerminal, refusal: TerminalRefusal): Promise<string> {
    return this.#lead(terminal, this.#seal(terminal.state, refusal));
  }

  /** Where the browser brings the terminal a code for what is sealed. */
  async #lead(
    { holder, state, port, expiresAt }: Pick<ReturnedTerminal, 'holder' | 'state' | 'port' | 'expiresAt'>,
    sealed: string,
  ): Promise<string> {
    const code = newSecret();
    await this.#put(codeDigest(holder, state, code), sealed, expiresAt);
    return `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state })}`;
  }

  /** Session that the terminal has a code for, once; null if it is unknown, was used or has expired, or if the secret is another one. */
  async take(secret: string, state: string, code: string): Promise<SsoPerson | TerminalRefusal | null> {
    const { codes, sealingKey } = this.parts;
    const sealed = await codes.take(codeDigest(secretDigest(secret), state, code));
    const opened = sealed === null ? null : openSecret(sealingKey, boundOf(state), sealed);
    return opened === null ? null : (JSON.parse(opened) as SsoPerson | TerminalRefusal);
  }

  async #put(digest: string, session: string, expiresAt: number): Promise<void> {
    const left = expiresAt - this.parts.now();
    if (left > 0) await this.parts.codes.put(digest, session, left);
  }

  /** A person has tokens of the provider. */
  #seal(state: string, result: SsoPerson | TerminalRefusal): string {
    return sealSecret(this.parts.sealingKey, boundOf(state), JSON.stringify(result));
  }

  #userCode(state: string): string {
    return userCodeOf(this.#mac('user code', state));
  }

  #derived(what: string, state: string): string {
    return this.#mac(what, state).toString('base64url');
  }

  #mac(what: string, state: string): Buffer {
    return createHmac('sha256', this.parts.sealingKey).update(`${what} of the terminal ${state}`).digest();
  }
}

const terminalAt = (port: number): Binding => ({ subject: port, place: 'terminal' });
const boundOf = (state: string): Binding => ({ subject: 0, place: `sign-in of the terminal ${state}` });
