/** The words of the page Users in English. */
import { grouped } from '../../text/numbers.ts';

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Users',
  total: (count: number) => `${grouped(count)} ${count === 1 ? 'user' : 'users'}`,
  column: { name: 'Name', role: 'Role', email: 'E-mail', state: 'State', since: 'Created', actions: 'Actions' },
  state: { enabled: 'enabled', disabled: 'disabled', removed: 'removed' },
  you: 'you',
  action: {
    create: 'Create user',
    edit: 'Edit',
    password: 'Password',
    logout: 'Log out',
    disable: 'Disable',
    enable: 'Enable',
  },
  of: {
    edit: (name: string) => `Edit ${name}`,
    password: (name: string) => `Password of ${name}`,
    logout: (name: string) => `Log out ${name}`,
    disable: (name: string) => `Disable ${name}`,
    enable: (name: string) => `Enable ${name}`,
  },
  ask: {
    logout:
      'All sessions of this user end at once, on every machine. The password stays as it is. Service tokens are not affected.',
    disable:
      'The user can no longer sign in, and all sessions end at once. What the user did stays in the audit log. You can enable the user again.',
    enable: 'The user can sign in again with the same password.',
  },
  own: 'This session ends, too: sign in again afterwards.',
  ownRole: 'You cannot change your own role here. Another administrator can.',
  username: 'User name',
  usernameShape: 'ASCII letters, digits and - _ . @',
  email: 'E-mail (optional)',
  current: 'Your current password',
  password: 'New password',
  repeat: 'Repeat the password',
  different: 'The two passwords differ.',
  passwordEnds: 'All sessions of this user end at once.',
  done: {
    create: (name: string) => `${name} was created.`,
    edit: (name: string) => `${name} was changed.`,
    password: (name: string) => `${name} has a new password.`,
    logout: (name: string) => `${name} is logged out everywhere.`,
    disable: (name: string) => `${name} is disabled.`,
    enable: (name: string) => `${name} is enabled.`,
  },
};

/** What the page has as words, in each language. */
export type UserWords = typeof en;
