/** The words of the account page in English. */

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  mustRegister: 'You must sign in with a security key and have none yet. Register one; then sign in again.',
  keys: 'Security keys',
  keysHint:
    'With a key you sign in without a password, or after it. A key works only at the name it was registered for.',
  noKeys: 'You have no key yet.',
  keyName: 'Name of the key',
  keyExample: 'for example: desk',
  site: 'Works at',
  registered: 'Registered',
  lastUsed: 'Last used',
  add: 'Register a key',
  cannot:
    'Browsers use security keys only over HTTPS and at localhost. Open the console at such an address to register one.',
  requireOwn: 'Require a key at each sign-in of this account',
  removeTitle: (name: string) => `Remove the key ${name}?`,
  removeHint: 'It no longer signs you in. It cannot be registered again.',
  policy: 'Who must have a key',
  policyHint:
    'Users of these roles sign in with a key after the password. A user without a key can only register one. Require keys for a role after its users have registered them.',
  policyRoles: 'Roles',
};

/** The entries that a language has. */
export type AccountWords = typeof en;
