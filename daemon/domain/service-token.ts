/** A service token: the record, its changes, and whether it is accepted. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import { tokenIds } from '../../src/contract/ids.ts';
import type { Role, TokenPermission } from '../../src/contract/values.ts';
import { Refusal } from './decision.ts';
import type { Entry } from './journal.ts';
import type { WebhookRecord } from './webhook.ts';

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

/** Stores when a token was last used. No operation of a user, so it has no journal entry. */
interface ServiceTokenUse {
  readonly kind: 'token.use';
  readonly token: number;
  readonly usedAt: number;
}

/** Every change of a service token. */
export type TokenChange = TokenAdd | TokenRevoke | ServiceTokenUse;

/** Adds a token. The journal gets all that decides what the token may do, so that the row can be checked against it. */
export function create(token: NewServiceToken): TokenAdd {
  const { name, role, sha256, expiresAt, allowedFrom, may } = token;
  const detail = { name, role, expiresAt, allowedFrom, may, sha256 };
  return { kind: 'token.add', token, entry: { type: 'TOKEN_CREATED', detail } };
}

/** Revokes a token permanently. */
export function revoke({ number, name }: ServiceTokenRecord): TokenRevoke {
  return { kind: 'token.revoke', token: number, entry: { type: 'TOKEN_REVOKED', detail: { name } } };
}

/** Why a token is not accepted at `now`; null if it is. `isInside`: whether the client is in one of the allowed networks. */
export function refusalOf(token: ServiceTokenRecord, now: number, isInside: boolean): Refusal | null {
  if (token.revokedAt !== null) return new Refusal(Code.tokenInvalid, 'the service token was revoked');
  if (token.expiresAt <= now) return new Refusal(Code.tokenExpired, 'the service token has expired');
  return isInside ? null : new Refusal(Code.tokenInvalid, 'the service token is not accepted from this address');
}

/** Name of a service token as an actor. No user name has a colon. */
export const actorName = ({ name }: Pick<ServiceTokenRecord, 'name'>): string => `token:${name}`;

/**
 * Whether a service token has created a webhook. One from before webhooks remembered their maker has only a name: at any time one valid
 * token has it.
 */
export function hasMade(token: ServiceTokenRecord, { madeBy, createdBy, createdAt }: WebhookRecord): boolean {
  if (madeBy !== undefined) return madeBy === tokenIds.format(token.number);
  const end = token.revokedAt ?? Number.POSITIVE_INFINITY;
  return createdBy === actorName(token) && createdAt >= token.createdAt && createdAt <= end;
}
