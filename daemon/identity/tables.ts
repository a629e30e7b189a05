/** The tables of the credentials by which keys are recognized. */

import { type Lookup, StoreTable } from '../store/table.ts';
import { fixedFields, type IdentityRecord } from './records.ts';

export const identities = new StoreTable<IdentityRecord>(
  'identity',
  {
    number: 'integer',
    device: 'integer',
    credentialId: 'text',
    publicKey: 'text',
    algorithm: 'integer',
    relyingParty: 'text',
    aaguid: 'text',
    firmware: 'text',
    transports: 'json',
    numberSource: 'text',
    createdAt: 'integer',
    lostAt: 'integer',
    provedAt: 'integer',
    counter: 'integer',
    seenAt: 'integer',
    station: 'text',
    version: 'integer',
  },
  { fixed: [...fixedFields, 'createdAt'], unique: ['credentialId'] },
);

/** All that a device has had. */
export const identitiesOf: Lookup<IdentityRecord> = { table: identities, by: ['device'] };

export const openIdentities: Lookup<IdentityRecord> = { ...identitiesOf, having: { lostAt: null } };
