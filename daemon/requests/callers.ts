/** The records of users and service tokens, and their names as holders of tokens, streams and rate limits. */
import { tokenIds } from '../../src/contract/ids.ts';
import type { AccountRole, Role, TokenPermission } from '../../src/contract/values.ts';

/** A user as it is stored. */
export interface UserRecord {
  /** The number in the id USR-n: from 1, without gaps. */
  readonly number: number;
  readonly username: string;
  /** `personKey` of `username`, or of the person to whom `people match` has given the account. Not unique. */
  readonly userKey: string;
  /** Encoded hash with its parameters; never leaves the daemon. */
  readonly passwordHash: string;
  readonly role: AccountRole;
  readonly email: string | null;
  readonly disabled: boolean;
  /** Milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  /** Raised whenever all tokens issued earlier must become invalid. */
  readonly tokenEpoch: number;
}

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
  /** Permissions of the token besides those of its role. */
  readonly may: readonly TokenPermission[];
}

/** Name of a service token as an actor. No user name has a colon. */
export const actorName = ({ name }: Pick<ServiceTokenRecord, 'name'>): string => `token:${name}`;

/** A webhook, as those see it who end what an account or a token has made. */
export interface MadeWebhook {
  readonly number: number;
  /** Id of the user or service token; absent in one of an earlier version, null if the daemon made it. */
  readonly madeBy?: string | null | undefined;
  /** Their name. */
  readonly createdBy: string | null;
  readonly createdAt: number;
  /** Null if it is enabled. */
  readonly disabled: unknown;
}

/** The holder of a user, by number. */
export const userHolder = (user: number): string => String(user);

/** The holder of a service token, by number. */
export const tokenHolder = (token: number): string => tokenIds.format(token);

/** The role LOCAL, which has no user. */
export const localHolder = 'local';
