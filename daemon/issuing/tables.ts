/** The tables of credentials at providers. */

import { type Lookup, StoreTable } from '../store/table.ts';
import type { CredentialRecord } from './credential.ts';

export const credentials = new StoreTable<CredentialRecord>(
  'credential',
  {
    number: 'integer',
    device: 'integer',
    provider: 'integer',
    account: 'text',
    label: 'text',
    begun: 'json',
    credentialId: 'text',
    remoteId: 'text',
    createdAt: 'integer',
    issuedAt: 'integer',
    uncertainAt: 'integer',
    removedAt: 'integer',
    salt: 'text',
    version: 'integer',
  },
  {
    fixed: ['device', 'provider', 'createdAt'],
    unique: ['device', 'provider'],
    among: { uncertainAt: null, removedAt: null },
  },
);

export const credentialsOf: Lookup<CredentialRecord> = { table: credentials, by: ['device'] };

export const credentialsOfAccount: Lookup<CredentialRecord> = { table: credentials, by: ['provider', 'account'] };
