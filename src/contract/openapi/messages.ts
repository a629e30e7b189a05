/** Messages of errors as a registry gives them; `tests/api/documents-*.test.ts` compare them with its responses. */
import { Code, type ErrorCode, type InputProblem } from '../codes.ts';
import type { RouteName } from '../endpoints.ts';

type Messages = Partial<Record<ErrorCode, string>>;

/** Of all operations that have none of their own. */
export const messages: Messages = {
  [Code.tokenInvalid]: 'a token is required: Authorization: Bearer …',
  [Code.noPermission]: 'the role VIEWER is not allowed to do this',
  429: 'too many requests; try again in 12 s',
  500: 'the store failed; nothing was changed. The log has the details under the request id',
};

/** Of a response with the status 503, which has the code 500. */
export const storeAway = 'the store does not respond; nothing was changed';

/** What a request of any operation can have wrong. With `Prefer: handling=strict` it is refused. */
export const unknownParameter: InputProblem = { field: 'user', reason: 'is not a parameter of this operation' };

const noTerminal = { 404: 'no terminal is waiting for this code: it is wrong, was used or has expired' };
const noChallenge = { 404: 'no such challenge: proofId is unknown' };
const noCredential = { 404: 'the device has no such credential' };
const noKey = { 404: 'no key with this keyId is plugged in' };

const otherKey = {
  [Code.serialDuplicated]:
    'the key is DEV-2 (serial number UK-2026-000002) by its credential, not DEV-1 (serial number UK-2026-000001)',
};
const noSignIn = {
  [Code.tokenInvalid]: 'this sign-in was not started here, was used before or took too long: start again',
};

const required = (field: string): InputProblem => ({ field, reason: 'is required' });

/** Of one operation; of a fault of one field, the field and the reason. */
const messagesOf: Partial<Record<RouteName, Partial<Record<ErrorCode, string | InputProblem>>>> = {
  showTerminalLogin: noTerminal,
  approveTerminalLogin: noTerminal,
  stepUp: { [Code.parameterError]: 'send either password or response' },
  setSso: { [Code.parameterError]: required('issuer') },
  registerDevice: { [Code.serialDuplicated]: 'serialNumber UK-2026-000001 already exists: DEV-1, INACTIVE' },
  activateDevice: { [Code.activationCodeInvalid]: 'the activation code does not match DEV-1 or has expired' },
  updateDevice: { [Code.parameterError]: 'firmwareVersion, note or tags is required' },
  setDirectory: { [Code.parameterError]: required('url') },
  undoPeople: { [Code.parameterError]: 'requestId is required, or actor and from' },
  removeKeyOfUser: { 404: 'this user has no such key' },
  submitProof: noChallenge,
  bindIdentity: { ...noChallenge, ...otherKey },
  proveIdentity: { ...noChallenge, ...otherKey },
  recordKeyReset: otherKey,
  finishCredential: noCredential,
  removeCredential: noCredential,
  removeTrust: { 404: 'no metadata was imported' },
  removeProvider: {
    [Code.parameterError]:
      'keys still have credentials at this provider, which could no longer be removed: remove them first, on the pages of the devices',
  },
  importTrust: { [Code.uploadFailed]: 'the metadata has number 80, but number 81 was imported before' },
  readPin: { 404: 'no PIN of this device is stored' },
  createReceipt: {
    [Code.deviceLocked]: 'device DEV-1 is locked; unlock it first',
    [Code.deviceDeactivated]: 'device DEV-1 is permanently deactivated',
  },
  startSso: { 404: 'single sign-on is not set up here' },
  finishSso: noSignIn,
  showSsoTerminal: noSignIn,
  storePin: { [Code.parameterError]: required('sealed') },
  submitReceipt: { 404: 'no such receipt: receiptId does not belong to this text and caller' },
  getReceipt: { 404: 'no such receipt, or no key has signed it' },
  issueKey: noKey,
  identifyKey: noKey,
  proveKey: noKey,
  signReceipt: noKey,
};

/** What is missing if a path names something that does not exist, by the first parameter of the path. */
const namedBy: Readonly<Record<string, string>> = {
  personId: 'person',
  providerId: 'provider',
  tokenId: 'service token',
  userId: 'user',
  webhookId: 'webhook',
};

/** The message of an operation for a code; undefined if it has none of its own. */
export function messageOf({ id, path }: { readonly id: RouteName; readonly path: string }, code: ErrorCode) {
  const missing = namedBy[/\{(\w+)\}/.exec(path)?.[1] ?? ''];
  return messagesOf[id]?.[code] ?? (code === 404 && missing ? `${missing} does not exist` : undefined);
}
