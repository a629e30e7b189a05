/** Issues a USB key over its FIDO interface: its first PIN, rules for it, and credentials that it stores. */
import { deadline } from '../deadline.ts';
import { HardwareError } from '../hardware-error.ts';
import type { IssuedKey, IssueWork } from '../issued-key.ts';
import { type Authenticator, enterPin, PERMISSION, type PinToken, readPinState, setPin } from './client-pin.ts';
import type { CtapChannel } from './connection.ts';
import { type AuthenticatorInfo, callCtap2, getInfo } from './ctap2.ts';
import { allowIssuing, allowReset, CTAP2 } from './gate.ts';
import type { KeyView } from './key-view.ts';
import { overFido } from './prove-key.ts';
import { deleteStoredCredential, hasAnyStored, makeStoredCredential, setPinRules } from './stored-credential.ts';

/** Milliseconds for a task, the time for a touch included. A task can have many commands. */
export const TASK_LIMIT = 40_000;

/** Runs the task with the key; see Driver.issue. */
export function issueKey<T>(view: KeyView, work: IssueWork, task: (key: IssuedKey) => Promise<T>): Promise<T> {
  const signal = deadline(work.signal, TASK_LIMIT);
  return overFido(
    view,
    signal,
    async channel => {
      const info = await getInfo(channel, signal);
      if (info === null) throw new HardwareError('unavailable', NO_FIDO2);
      return task(openKey(channel, info, { ...work, signal }));
    },
    { missing: NO_FIDO2, allow: work.mayReset === true ? allowReset : allowIssuing },
  );
}

const NO_FIDO2 = 'this key has no FIDO2: it cannot be issued for sign-in';

function openKey(channel: CtapChannel, info: AuthenticatorInfo, work: IssueWork): IssuedKey {
  const key: Authenticator = {
    info,
    send: (command, parameters) => callCtap2(channel, command, parameters, work),
  };
  const withToken = async <T>(
    pin: Uint8Array,
    use: Parameters<typeof enterPin>[2],
    send: (token: PinToken) => Promise<T>,
  ): Promise<T> => {
    const token = await enterPin(key, pin, use);
    try {
      return await send(token);
    } finally {
      token.end();
    }
  };
  return {
    // Changes since the key was opened have changed its claims.
    pinState: async () => readPinState({ ...key, info: (await getInfo(channel, work.signal)) ?? info }),
    hasAny: credentials => hasAnyStored(key, credentials),
    setPin: pin => setPin(key, pin),
    setPinRules: (rules, pin) =>
      withToken(pin, { permissions: PERMISSION.configure }, token => setPinRules(key, rules, token)),
    makeCredential(request, pin) {
      if (pin === null) return makeStoredCredential(key, request, null);
      const permissions = PERMISSION.makeCredential | PERMISSION.getAssertion;
      const use = { permissions, relyingParty: request.relyingParty.id };
      return withToken(pin, use, token => makeStoredCredential(key, request, token));
    },
    deleteCredential: (credentialId, pin) =>
      withToken(pin, { permissions: PERMISSION.manageCredentials }, token =>
        deleteStoredCredential(key, credentialId, token),
      ),
    async reset() {
      await key.send(CTAP2.RESET, []);
    },
  };
}
