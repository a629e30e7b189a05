/** Issues a USB key over its FIDO interface: its first PIN, rules for it, and credentials that it stores. */
import { deadline } from '../deadline.ts';
import { HardwareError, type IssuedKey, type IssueWork, type PinState, type StoredCredential } from '../driver.ts';
import { type Authenticator, enterPin, PERMISSION, type PinToken, readPinState, setPin } from './client-pin.ts';
import { type AuthenticatorInfo, callCtap2, getInfo } from './ctap2.ts';
import type { CtapHidChannel } from './ctaphid.ts';
import { allowIssuing, allowReset, CTAP2 } from './gate.ts';
import type { KeyView } from './key-view.ts';
import { overFido } from './prove-key.ts';
import { deleteStoredCredential, makeStoredCredential, setPinRules } from './stored-credential.ts';

/** Milliseconds for a task, the time for a touch included. A task can have many commands. */
const TASK_LIMIT = 40_000;

/** Runs the task with the key; see Driver.issue. */
export function issueKey<T>(view: KeyView, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> {
  const signal = deadline(work.signal, TASK_LIMIT);
  return overFido(
    view,
    signal,
    async channel => {
      const info = await getInfo(channel, signal);
      if (info === null) throw new HardwareError('unavailable', NO_FIDO2);
      return task(new OpenKey(channel, info, { ...work, signal }));
    },
    { missing: NO_FIDO2, allow: work.mayReset === true ? allowReset : allowIssuing },
  );
}

const NO_FIDO2 = 'this key has no FIDO2: it cannot be issued for sign-in';

class OpenKey implements IssuedKey, Authenticator {
  info: AuthenticatorInfo;
  readonly #channel: CtapHidChannel;
  readonly #work: IssueWork;

  constructor(channel: CtapHidChannel, info: AuthenticatorInfo, work: IssueWork) {
    this.info = info;
    this.#channel = channel;
    this.#work = work;
  }

  send(...[command, parameters]: Parameters<Authenticator['send']>): Promise<Uint8Array> {
    return callCtap2(this.#channel, command, parameters, this.#work);
  }

  /** What was done since the key was opened has changed what it reports. */
  async pinState(): Promise<PinState> {
    this.info = (await getInfo(this.#channel, this.#work.signal)) ?? this.info;
    return readPinState(this);
  }

  setPin(pin: Uint8Array): Promise<void> {
    return setPin(this, pin);
  }

  setPinRules(...[rules, pin]: Parameters<IssuedKey['setPinRules']>): Promise<void> {
    return this.#withToken(pin, { permissions: PERMISSION.configure }, token => setPinRules(this, rules, token));
  }

  makeCredential(...[request, pin]: Parameters<IssuedKey['makeCredential']>): Promise<StoredCredential> {
    if (pin === null) return makeStoredCredential(this, request, null);
    const permissions = PERMISSION.makeCredential | PERMISSION.getAssertion;
    const use = { permissions, relyingParty: request.relyingParty.id };
    return this.#withToken(pin, use, token => makeStoredCredential(this, request, token));
  }

  deleteCredential(credentialId: Uint8Array, pin: Uint8Array): Promise<void> {
    const use = { permissions: PERMISSION.manageCredentials };
    return this.#withToken(pin, use, token => deleteStoredCredential(this, credentialId, token));
  }

  /** Needs a touch within 10 s after the key was plugged in. */
  async reset(): Promise<void> {
    await this.send(CTAP2.RESET, []);
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
}
