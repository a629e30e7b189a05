/** The words of the page Tokens in English. */
import { grouped } from '../../text/numbers.ts';

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Service tokens',
  what: 'A service token is for a program that would otherwise need the password of a person.',
  total: (count: number) => `${grouped(count)} ${count === 1 ? 'token' : 'tokens'}`,
  empty: 'No token has been created yet.',
  column: {
    name: 'Name',
    role: 'Role',
    may: 'Permissions',
    state: 'State',
    expires: 'Expires',
    used: 'Last used',
    networks: 'Accepted from',
    by: 'Created by',
    actions: 'Actions',
  },
  state: { valid: 'valid', expired: 'expired', revoked: 'revoked' },
  anywhere: 'any network',
  permissions: 'Permissions besides the role',
  permission: {
    webhooks: 'Webhooks',
    policies: 'Policies',
    scim: 'SCIM (reserved: not served yet)',
  },
  nothing: 'none',
  create: 'Create token',
  name: 'Name',
  nameHint: 'of the program or the station',
  days: (min: number, max: number) => `Valid for days (${min} to ${max})`,
  networks: 'Accepted only from these networks (optional)',
  networksHint: 'One CIDR per line, such as 10.20.0.0/16. Leave it empty to allow any network.',
  created: (name: string) => `Token ${name}`,
  once: 'Copy the token now: it is not shown again. The registry keeps a digest of it only.',
  token: 'Token',
  until: (role: string, time: string) => `Role: ${role}. Valid until ${time}.`,
  revoke: 'Revoke',
  revokeOf: (name: string) => `Revoke ${name}`,
  askRevoke: 'The next request with this token is refused, and its streams end. A revoked token stays revoked.',
  madeBy: (name: string) => `Made with ${name}`,
  askRemove: 'The token is revoked. These webhooks were made with it and still receive events:',
  removeMade: 'Remove webhooks',
  removeLater: 'To remove them later:',
  removed: (name: string) => `${name} is revoked, and its webhooks are removed.`,
  revoked: (name: string) => `${name} is revoked.`,
};

/** What the page has as words, in each language. */
export type TokenWords = typeof en;
