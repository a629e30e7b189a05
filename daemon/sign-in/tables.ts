/** The tables of the keys that users sign in with. */

import { type Lookup, StoreTable } from '../store/table.ts';
import type { PasskeyRecord } from './passkey.ts';

export const passkeys = new StoreTable<PasskeyRecord>(
  'passkey',
  {
    number: 'integer',
    owner: 'integer',
    name: 'text',
    credentialId: 'text',
    publicKey: 'text',
    rpId: 'text',
    transports: 'json',
    aaguid: 'text',
    signCount: 'integer',
    createdAt: 'integer',
    lastUsedAt: 'integer',
    removedAt: 'integer',
    version: 'integer',
    used: 'json',
  },
  {
    fixed: ['owner', 'name', 'credentialId', 'publicKey', 'rpId', 'transports', 'aaguid', 'createdAt'],
    unique: ['credentialId'],
  },
);

/** The keys of a user that are not removed. */
export const keysOfUser: Lookup<PasskeyRecord> = { table: passkeys, by: ['owner'], having: { removedAt: null } };
