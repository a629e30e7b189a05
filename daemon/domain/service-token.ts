/** A service token: the record, its changes, and whether it is accepted. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import { tokenIds, userIds } from '../../src/contract/ids.ts';
import type { Role, TokenPermission } from '../../src/contract/values.ts';
import { Refusal } from './decision.ts';
import type { Entry } from './journal.ts';
import type { UserRecord } from './user.ts';

/** A service token as it is stored. Its text is not stored. */
export interface ServiceTokenRecord {
  /** The number in the id TOK-n: from 1, without gaps. */
  readonly number: number;
  /** Unique among the tokens that are not revoked. */
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the token's text in lower-case hex; never leaves the daemon. */
  readonly sha256: string;
  /** Name of the user. */
  readonly createdBy: string;
  /** Number of the user with whose account it ends; null for the user `createdBy`, in a token that an earlier version has created. */
  readonly owner: number | null;
  /** This and the other times: milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** May be up to a minute behind; null if the token was never used. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  /** CIDRs; null if the token is accepted from any address. */
  readonly allowedFrom: readonly string[] | null;
  /** What the token may do besides what its role allows. */
  readonly may: readonly TokenPermission[];
}

/** What a new token is stored with. */
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

/** Whether a token ends with its owner: the account is disabled, or its person has left and waits for nothing. An unknown owner ends nothing. */
export const hasLostOwner = (
  owner: Pick<UserRecord, 'disabled'> | null,
  person: { readonly active: boolean; readonly heldAt: number | null; readonly dueAt: number | null } | null,
): boolean =>
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

/** Name of a service token as an actor. No user name has a colon. */
export const actorName = ({ name }: Pick<ServiceTokenRecord, 'name'>): string => `token:${name}`;

/**
 * Whether a service token has created a webhook. One from before webhooks remembered their maker has only a name: at any time one valid
 * token has it.
 */
export function hasMade(
  token: ServiceTokenRecord,
  {
    madeBy,
    createdBy,
    createdAt,
  }: { readonly madeBy?: string | null; readonly createdBy: string | null; readonly createdAt: number },
): boolean {
  if (madeBy !== undefined) return madeBy === tokenIds.format(token.number);
  const end = token.revokedAt ?? Number.POSITIVE_INFINITY;
  return createdBy === actorName(token) && createdAt >= token.createdAt && createdAt <= end;
}
