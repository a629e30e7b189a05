/** A service token: the record, its changes, and whether it is accepted. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import { tokenIds, userIds } from '../../src/contract/ids.ts';
import { Refusal } from '../base/decision.ts';
import { actorName, type MadeWebhook, type ServiceTokenRecord, type UserRecord } from '../requests/callers.ts';
import type { Entry } from '../store/journal.ts';

/** Fields of a new token. */
export type NewServiceToken = Omit<ServiceTokenRecord, 'number' | 'createdAt' | 'lastUsedAt' | 'revokedAt'>;

/** The result is `duplicate` if a token that is not revoked has the name. */
interface TokenAdd {
  readonly kind: 'token.add';
  readonly token: NewServiceToken;
  readonly entry: Entry;
}

/** A `Conflict` if the token does not exist or is revoked. */
interface TokenRevoke {
  readonly kind: 'token.revoke';
  readonly token: number;
  readonly entry: Entry;
}

/** Gives a token another owner. A `Conflict` if it is revoked, or its owner is not `before`. */
interface TokenAdopt {
  readonly kind: 'token.adopt';
  readonly token: number;
  readonly before: number | null;
  readonly owner: number;
  readonly entry: Entry;
}

/** Stores when a token was last used. No operation of a user, so it has no journal entry. */
interface ServiceTokenUse {
  readonly kind: 'token.use';
  readonly token: number;
  readonly usedAt: number;
}

/** Every change of a service token. */
export type TokenChange = TokenAdd | TokenRevoke | TokenAdopt | ServiceTokenUse;

/** Adds a token. The journal gets all that decides what the token may do, so that the row can be checked against it. */
export function create(token: NewServiceToken): TokenAdd {
  const { name, role, sha256, expiresAt, allowedFrom, may, owner } = token;
  const detail = { name, role, expiresAt, allowedFrom, may, sha256, owner: shownOwner(owner) };
  return { kind: 'token.add', token, entry: { type: 'TOKEN_CREATED', detail } };
}

/** Revokes a token permanently. */
export function revoke({ number, name }: ServiceTokenRecord): TokenRevoke {
  return { kind: 'token.revoke', token: number, entry: { type: 'TOKEN_REVOKED', detail: { name } } };
}

/** The id of an owner, as entries have it. */
export const shownOwner = (owner: number | null) => (owner === null ? null : userIds.format(owner));

/** Makes a user the owner of a token. */
export function adopt({ number, name, owner: before }: ServiceTokenRecord, owner: number): TokenAdopt {
  const detail = { name, owner: shownOwner(owner), before: shownOwner(before) };
  return { kind: 'token.adopt', token: number, before, owner, entry: { type: 'TOKEN_ADOPTED', detail } };
}

/** State of the person of an owner. */
export interface OwnerState {
  readonly active: boolean;
  readonly heldAt: number | null;
  readonly dueAt: number | null;
}

/** Whether a token ends with its owner: the account is disabled, or the person has left. An unknown owner ends nothing. */
export const hasLostOwner = (owner: Pick<UserRecord, 'disabled'> | null, person: OwnerState | null): boolean =>
  owner !== null &&
  (owner.disabled || (person !== null && !person.active && person.heldAt === null && person.dueAt === null));

/** Why a token is not accepted at `now`; null if it is. `isInside`: whether the client is in one of the allowed networks. */
export function refusalOf(
  token: ServiceTokenRecord,
  now: number,
  { isInside, isOwnerLost }: { readonly isInside: boolean; readonly isOwnerLost: boolean },
): Refusal | null {
  if (token.revokedAt !== null) return new Refusal(Code.tokenInvalid, 'the service token was revoked');
  if (token.expiresAt <= now) return new Refusal(Code.tokenExpired, 'the service token has expired');
  if (isOwnerLost)
    return new Refusal(
      Code.tokenInvalid,
      'the account that owns the service token is disabled, or its person has left: an ADMIN can take the token over (devmgr tokens adopt)',
    );
  return isInside ? null : new Refusal(Code.tokenInvalid, 'the service token is not accepted from this address');
}

/**
 * Whether a service token has created a webhook. One from before webhooks remembered their maker has only a name: at any time one valid
 * token has it.
 */
export function hasMade(
  token: ServiceTokenRecord,
  { madeBy, createdBy, createdAt }: Omit<MadeWebhook, 'number' | 'disabled'>,
): boolean {
  if (madeBy !== undefined) return madeBy === tokenIds.format(token.number);
  const end = token.revokedAt ?? Number.POSITIVE_INFINITY;
  return createdBy === actorName(token) && createdAt >= token.createdAt && createdAt <= end;
}
