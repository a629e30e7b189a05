/** The tables of users and service tokens. */
import { namesIn } from '../../src/contract/names.ts';
import type { ServiceTokenRecord, UserRecord } from '../requests/callers.ts';
import { type Lookup, StoreTable } from '../store/table.ts';

export const users = new StoreTable<UserRecord>(
  'user',
  {
    number: 'integer',
    username: 'text',
    userKey: 'text',
    passwordHash: 'text',
    role: 'text',
    email: 'text',
    disabled: 'boolean',
    createdAt: 'integer',
    tokenEpoch: 'integer',
  },
  { fixed: ['username', 'createdAt'], unique: ['username'] },
);

/** The accounts of a person: those with an equal name, by `personKey`, and those that were given to the person. */
export const accountsNamed: Lookup<UserRecord> = { table: users, by: ['userKey'] };

export const enabledAdmins: Lookup<UserRecord> = { table: users, by: [], having: { role: 'ADMIN', disabled: false } };

/** Fields of a service token that never change. */
export const tokenFacts = namesIn('name role sha256 createdBy createdAt expiresAt allowedFrom may');

export const serviceTokens = new StoreTable<ServiceTokenRecord>(
  'service_token',
  {
    number: 'integer',
    name: 'text',
    role: 'text',
    sha256: 'text',
    createdBy: 'text',
    owner: 'integer',
    createdAt: 'integer',
    expiresAt: 'integer',
    lastUsedAt: 'integer',
    revokedAt: 'integer',
    allowedFrom: 'json',
    may: 'json',
  },
  { fixed: tokenFacts, unique: ['name'], among: { revokedAt: null } },
);

/** Service tokens of an owner that are not revoked. */
export const tokensOfOwner: Lookup<ServiceTokenRecord> = {
  table: serviceTokens,
  by: ['owner'],
  having: { revokedAt: null },
};
