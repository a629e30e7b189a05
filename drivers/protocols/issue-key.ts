/** Issues a USB key over its FIDO interface: its first PIN, rules for it, and credentials that it stores. */
import { deadline } from '../deadline.ts';
import { HardwareError, type IssuedKey, type IssueWork, type StoredCredential } from '../driver.ts';
import { type Authenticator, enterPin, PERMISSION, type PinToken, readPinState, setPin } from './client-pin.ts';
import { type AuthenticatorInfo, callCtap2, getInfo } from './ctap2.ts';
import type { CtapHidChannel } from './ctaphid.ts';
import { allowIssuing, allowReset, CTAP2 } from './gate.ts';
import type { KeyView } from './key-view.ts';
import { overFido } from './prove-key.ts';
import { deleteStoredCredential, makeStoredCredential, setPinRules } from './stored-credential.ts';

/** Milliseconds in which a key carries out a step, the time for a touch included. A step can have many commands. */
const STEP_LIMIT = 40_000;

/** Runs the task with the key; see Driver.issue. */
export const issueKey = <T>(view: KeyView, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> =>
  overFido(
    view,
    work.signal,
    async channel => {
      const info = await getInfo(channel, work.signal);
      if (info === null) throw new HardwareError('unavailable', NO_FIDO2);
      return task(new OpenKey(channel, info, work));
    },
    { missing: NO_FIDO2, allow: work.mayReset === true ? allowReset : allowIssuing },
  );

const NO_FIDO2 = 'this key has no FIDO2: it cannot be issued for sign-in';

class OpenKey implements IssuedKey, Authenticator {
  info: AuthenticatorInfo;
  readonly #channel: CtapHidChannel;
  readonly #work: IssueWork;
  /** The limit of the present step. */
  #signal: AbortSignal;

  constructor(channel: CtapHidChannel, info: AuthenticatorInfo, work: IssueWork) {
    this.info = info;
    this.#channel = channel;
    this.#work = work;
    this.#signal = work.signal;
  }

  get freeCredentials(): number | null {
    return this.info.freeCredentials;
  }

  send(...[command, parameters]: Parameters<Authenticator['send']>): Promise<Uint8Array> {
    return callCtap2(this.#channel, command, parameters, { ...this.#work, signal: this.#signal });
  }

  pinState() {
    return this.#step(() => readPinState(this));
  }

  setPin(pin: Uint8Array): Promise<void> {
    return this.#change(() => setPin(this, pin));
  }

  setPinRules(...[rules, pin]: Parameters<IssuedKey['setPinRules']>): Promise<void> {
    const use = { permissions: PERMISSION.configure };
    return this.#change(() => this.#withToken(pin, use, token => setPinRules(this, rules, token)));
  }

  makeCredential(...[request, pin]: Parameters<IssuedKey['makeCredential']>): Promise<StoredCredential> {
    const permissions = PERMISSION.makeCredential | PERMISSION.getAssertion;
    const use = { permissions, relyingParty: request.relyingParty.id };
    const make = (token: PinToken | null) => makeStoredCredential(this, request, token);
    return this.#change(() => (pin === null ? make(null) : this.#withToken(pin, use, make)));
  }

  deleteCredential(credentialId: Uint8Array, pin: Uint8Array): Promise<void> {
    const use = { permissions: PERMISSION.manageCredentials };
    return this.#step(() => this.#withToken(pin, use, token => deleteStoredCredential(this, credentialId, token)));
  }

  /** Needs a touch within 10 s after the key was plugged in. */
  async reset(): Promise<void> {
    await this.#change(() => this.send(CTAP2.RESET, []));
  }

  async #withToken<T>(
    pin: Uint8Array,
    use: Parameters<typeof enterPin>[2],
    send: (token: PinToken) => Promise<T>,
  ): Promise<T> {
    const token = await enterPin(this, pin, use);
    try {
      return await send(token);
    } finally {
      token.end();
    }
  }

  /** Runs a step that changes what the key reports: its PIN or its credentials. */
  async #change<T>(work: () => Promise<T>): Promise<T> {
    const done = await this.#step(work);
    this.info = (await this.#step(() => getInfo(this.#channel, this.#signal))) ?? this.info;
    return done;
  }

  #step<T>(work: () => Promise<T>): Promise<T> {
    this.#signal = deadline(this.#work.signal, STEP_LIMIT);
    return work();
  }
}
