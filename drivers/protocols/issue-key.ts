/** Issues a USB key over its FIDO interface: its first PIN, rules for it, and credentials that it stores. */
import { deadline } from '../deadline.ts';
import { HardwareError, type IssuedKey, type IssueWork, type StoredCredential } from '../driver.ts';
import { enterPin, PERMISSION, type PinToken, readPinState, setPin } from './client-pin.ts';
import { type AuthenticatorInfo, getInfo } from './ctap2.ts';
import { CtapHidChannel } from './ctaphid.ts';
import { allowIssuing, allowReset } from './gate.ts';
import type { KeyView } from './key-view.ts';
import { deleteStoredCredential, makeStoredCredential, resetKey, setPinRules } from './stored-credential.ts';

/** Milliseconds in which a key answers, the time for a touch included. */
const STEP_LIMIT = 40_000;

/** Runs the task with the key; see Driver.issue. */
export async function issueKey<T>(view: KeyView, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> {
  if (view.openFido === null) throw new HardwareError('unavailable', NO_FIDO2);
  const connection = await view.openFido(work.signal);
  try {
    const allow = work.mayReset === true ? allowReset : allowIssuing;
    const channel = await CtapHidChannel.open(connection, work.signal, { allow });
    const info = await getInfo(channel, work.signal);
    if (info === null) throw new HardwareError('unavailable', NO_FIDO2);
    return await task(new OpenKey(channel, info, work));
  } finally {
    await connection.close();
  }
}

const NO_FIDO2 = 'this key has no FIDO2: it cannot be issued for sign-in';

class OpenKey implements IssuedKey {
  readonly #channel: CtapHidChannel;
  readonly #work: IssueWork;
  #info: AuthenticatorInfo;

  constructor(channel: CtapHidChannel, info: AuthenticatorInfo, work: IssueWork) {
    this.#channel = channel;
    this.#info = info;
    this.#work = work;
  }

  get freeCredentials(): number | null {
    return this.#info.freeCredentials;
  }

  pinState() {
    return readPinState(this.#channel, this.#info, this.#signal());
  }

  async setPin(pin: Uint8Array): Promise<void> {
    await setPin(this.#channel, this.#info, pin, this.#signal());
    await this.#refresh();
  }

  async setPinRules(...[rules, pin]: Parameters<IssuedKey['setPinRules']>): Promise<void> {
    await this.#withToken(pin, { permissions: PERMISSION.configure }, token =>
      setPinRules(this.#channel, rules, token, this.#signal()),
    );
    await this.#refresh();
  }

  async makeCredential(...[request, pin]: Parameters<IssuedKey['makeCredential']>): Promise<StoredCredential> {
    const permissions = PERMISSION.makeCredential | PERMISSION.getAssertion;
    const use = { permissions, relyingParty: request.relyingParty.id };
    const make = (token: PinToken | null) =>
      makeStoredCredential(this.#channel, this.#info, request, token, { ...this.#work, signal: this.#signal() });
    const stored = await (pin === null ? make(null) : this.#withToken(pin, use, make));
    await this.#refresh();
    return stored;
  }

  deleteCredential(credentialId: Uint8Array, pin: Uint8Array): Promise<void> {
    return this.#withToken(pin, { permissions: PERMISSION.manageCredentials }, token =>
      deleteStoredCredential(this.#channel, credentialId, token, this.#signal()),
    );
  }

  async reset(): Promise<void> {
    await resetKey(this.#channel, { ...this.#work, signal: this.#signal() });
    await this.#refresh();
  }

  async #withToken<T>(
    pin: Uint8Array,
    use: Parameters<typeof enterPin>[3],
    send: (token: PinToken) => Promise<T>,
  ): Promise<T> {
    const token = await enterPin(this.#channel, this.#info, pin, use, this.#signal());
    try {
      return await send(token);
    } finally {
      token.end();
    }
  }

  /** What the key reports changes with its PIN and its credentials. */
  async #refresh(): Promise<void> {
    this.#info = (await getInfo(this.#channel, this.#signal())) ?? this.#info;
  }

  #signal(): AbortSignal {
    return deadline(this.#work.signal, STEP_LIMIT);
  }
}
