/** The operations of a provider at which keys are issued, common to all types. */
import { randomBytes } from 'node:crypto';
import { ApiError, Code } from '../../../../src/contract/codes.ts';
import type { AttestationResponse } from '../../../../src/contract/webauthn.ts';
import type { CredentialRecord } from '../../../domain/credential.ts';
import type { Context } from '../../context.ts';

/** Creation options of a provider for one person. */
export interface ProviderOptions {
  /** The origin for which the key answers. */
  readonly origin: string;
  /** `PublicKeyCredentialCreationOptionsJSON` (WebAuthn 3, 5.1.8). */
  readonly options: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970 (UTC). */
  readonly expiresAt: number;
  /** State of the provider that `finish` needs; null if none. */
  readonly handle: string | null;
}

/** A credential at the provider. */
export interface RemoteCredential {
  readonly remoteId: string;
  /** As base64url; null if the provider does not report it. */
  readonly credentialId: string | null;
  /** The name it was registered with; null if the provider keeps none. */
  readonly label: string | null;
}

/** What a new credential is registered with. `label` is unique: a lost answer is found by it. */
interface NewRemote extends Pick<CredentialRecord, 'account' | 'label' | 'device'>, Pick<ProviderOptions, 'handle'> {
  readonly response: AttestationResponse;
  /** The request that finishes it, for the journal of this registry. */
  readonly by: Context;
}

/** The requests. Each rejects with `ProviderAway` if another attempt may succeed, and with a refusal (`isRefusal`) if not. */
export interface IssuingProvider {
  /** Sends a request that changes nothing. */
  test(): Promise<void>;
  /** What the provider calls a person, by user name: its own id, or the name. Refuses one that it does not know. */
  account(userName: string): Promise<string>;
  /** The other operations take this account. */
  options(account: string): Promise<ProviderOptions>;
  /** Registers the credential; resolves with the id at the provider. */
  finish(credential: NewRemote): Promise<string>;
  /** The credentials of a person; null if the provider has no list. */
  list(account: string): Promise<readonly RemoteCredential[] | null>;
  /** Resolves with whether the provider had it: one that it has accepted just now may not be known everywhere there. */
  remove(
    account: string,
    credential: { readonly remoteId: string | null; readonly credentialId: string },
  ): Promise<boolean>;
}

/** The provider refuses the request permanently. `message`: why, for the operator. */
export class ProviderRefused extends ApiError {
  /** Of its response; null without one. */
  readonly status: number | null;
  constructor(message: string, status: number | null = null) {
    super(Code.parameterError, message);
    this.status = status;
  }
}

/** Whether an error is a refusal: no other attempt of the same request can succeed, and it has done nothing. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === Code.parameterError;

const LABEL = /^devmgr [0-9a-f]{10}$/;

/** A new label of a credential. */
export const newLabel = (): string => `devmgr ${randomBytes(5).toString('hex')}`;

/** Whether a registry has made the credential with this label. */
export const isLabel = (label: string | null): boolean => label !== null && LABEL.test(label);
