/** Messages of errors as a registry gives them; `tests/api/documents-examples.test.ts` compares them with its responses. */
import { Code, type ErrorCode, type InputProblem } from '../codes.ts';
import type { RouteName } from '../endpoints.ts';

type Messages = Partial<Record<ErrorCode, string>>;

/** Of all operations that have none of their own. */
export const messages: Messages = {
  [Code.tokenInvalid]: 'a token is required: Authorization: Bearer …',
  [Code.noPermission]: 'the role VIEWER is not allowed to do this',
};

const noTerminal = { 404: 'no terminal is waiting for this code: it is wrong, was used or has expired' };
const noChallenge = { 404: 'no such challenge: proofId is unknown' };
const noCredential = { 404: 'the device has no such credential' };
const noKey = { 404: 'no key with this keyId is plugged in' };

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
  bindIdentity: noChallenge,
  proveIdentity: noChallenge,
  finishCredential: noCredential,
  removeCredential: noCredential,
  removeTrust: { 404: 'no metadata was imported' },
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
