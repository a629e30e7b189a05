/** The operations of a provider at which keys are issued, common to all types. */
import { randomBytes } from 'node:crypto';
import { ApiError, Code } from '../../../src/contract/codes.ts';
import type { AttestationResponse } from '../../../src/contract/webauthn.ts';
import type { Context } from '../../requests/context.ts';
import type { CredentialRecord } from '../credential.ts';

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

/** A user of the provider. */
export interface RemoteUser {
  readonly id: string;
  readonly userName: string;
  readonly isActive: boolean;
}

/** Fields of a new credential. `label` is unique: a lost answer is found by it. */
interface NewRemote extends Pick<CredentialRecord, 'account' | 'label' | 'device'>, Pick<ProviderOptions, 'handle'> {
  readonly response: AttestationResponse;
  /** The request that finishes it, for the journal of this registry. */
  readonly by: Context;
}

/** The requests. Each rejects with `ProviderAway` if another attempt may succeed, and with a refusal (`isRefusal`) if not. */
export interface IssuingProvider {
  /** Sends a request that changes nothing. */
  test(): Promise<void>;
  /** All its users; absent: it cannot list them. */
  users?(): Promise<readonly RemoteUser[]>;
  /** Id of a person at the provider, by user name: its own id, or the name. Refuses one that it does not know. */
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

/** Whether a provider has refused: no other attempt of the same request can succeed, and it has done nothing. */
export const isRefusal = (error: unknown): error is ProviderRefused => error instanceof ProviderRefused;

/** Characters of the id of a registry in its labels: Entra ID keeps names of up to 30 characters. */
const ID_CHARACTERS = 8;
const LABEL = /^devmgr (?:([0-9a-f]{8}) )?[0-9a-f]{10}$/;

/** A new label of a credential. Several registries can issue keys for one organization, so the label names the registry. */
export const newLabel = (registryId: string): string =>
  `devmgr ${registryId.slice(0, ID_CHARACTERS)} ${randomBytes(5).toString('hex')}`;

/** The registry of a label: `own`, `other`, or `unknown` in labels of earlier versions. Null: not a label of a registry. */
export function registryOf(label: string | null, registryId: string): 'own' | 'other' | 'unknown' | null {
  const [match, id] = LABEL.exec(label ?? '') ?? [];
  if (match === undefined) return null;
  if (id === undefined) return 'unknown';
  return id === registryId.slice(0, ID_CHARACTERS) ? 'own' : 'other';
}
