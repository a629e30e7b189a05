/** Reads what browsers return for a security key (WebAuthn 3, 5.1), with a bound for each part. */
import { Type } from 'typebox';
import { ApiError, Code } from './codes.ts';
import { SHAPE } from './fields.ts';
import { passkeyBounds } from './limits.ts';
import { compileReader, type ReadResult } from './validate.ts';

/** What a browser returns for a new credential. Bytes are base64url. */
export interface AttestationResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports: readonly string[];
  };
}

/** What a browser returns for a signature. Bytes are base64url. */
export interface AssertionResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    /** What the key names the account by; null if it does not. */
    readonly userHandle: string | null;
  };
}

const bytes = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_\\-]+$', [SHAPE]: 'base64url without padding' });
const credential = { id: bytes(passkeyBounds.id), rawId: bytes(passkeyBounds.id) };
const clientDataJSON = bytes(passkeyBounds.clientData);
const readCredential = compileReader(Type.Object(credential));
const readAttested = compileReader(
  Type.Object({ clientDataJSON, attestationObject: bytes(passkeyBounds.attestationObject) }),
);
const readAsserted = compileReader(
  Type.Object({
    clientDataJSON,
    authenticatorData: bytes(passkeyBounds.authenticatorData),
    signature: bytes(passkeyBounds.signature),
    userHandle: Type.Optional(Type.Union([bytes(passkeyBounds.id), Type.Null()])),
  }),
);

type CredentialFields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): CredentialFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as CredentialFields) : {};

function accepted<T>(name: string, result: ReadResult<T>): T {
  if (result.ok) return result.value;
  throw new ApiError(Code.parameterError, `${name}.${result.message}`);
}

function readOuter(input: unknown): Pick<AssertionResponse, 'id' | 'rawId' | 'type'> {
  const outer = accepted('response', readCredential(input));
  if (fieldsOf(input).type !== 'public-key')
    throw new ApiError(Code.parameterError, 'response.type must be public-key');
  return { ...outer, type: 'public-key' };
}

/** Throws `ApiError` 1001, which names the field. */
export function readAttestation(input: unknown): AttestationResponse {
  const outer = readOuter(input);
  const inner = fieldsOf(input).response;
  const response = accepted('response.response', readAttested(inner));
  return { ...outer, response: { ...response, transports: transportsIn(fieldsOf(inner).transports) } };
}

/** Throws `ApiError` 1001, which names the field. */
export function readAssertion(input: unknown): AssertionResponse {
  const outer = readOuter(input);
  const { userHandle = null, ...response } = accepted('response.response', readAsserted(fieldsOf(input).response));
  return { ...outer, response: { ...response, userHandle } };
}

/** Hints only: what is not a short word is left out. */
function transportsIn(given: unknown): string[] {
  if (!Array.isArray(given)) return [];
  const words = given.filter(word => typeof word === 'string' && /^[a-z-]+$/.test(word));
  return words.filter(word => word.length <= passkeyBounds.transport).slice(0, passkeyBounds.transports);
}
