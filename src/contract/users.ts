import { type Static, Type } from 'typebox';
import { Code } from './codes.ts';
import { additions, administration, adminOnly, adminPerson } from './define.ts';
import { boolean, line, maybe, nullable, oneOf, secret, shown, timestamp, token } from './fields.ts';
import { userIds } from './ids.ts';
import { passwordLength, textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { accountRoles, roles, textShapes } from './values.ts';

const params = Type.Object({ userId: token({ description: 'user id', examples: ['USR-1'] }) });

/** Unique among all users, including disabled ones; a duplicate is refused with 1001. */
export const username = line(textLengths.username, {
  ...textShapes.username,
  description: 'user name, unique, case-sensitive',
  examples: ['dealer-berlin'],
});
/** Not unique and not verified. */
export const email = line(textLengths.email, {
  ...textShapes.email,
  description: 'e-mail address',
  examples: ['ops@example.com'],
});
/** A new password. Taken exactly as sent. */
export const password = secret(passwordLength, {
  description: 'password, 8 to 200 characters',
  examples: ['correct horse battery'],
});

/** A user of this system. Its password is in no response. */
export const user = Type.Object({
  id: Type.String({ pattern: userIds.pattern, examples: ['USR-1'] }),
  username: shown('user name', 'dealer-berlin'),
  role: oneOf(accountRoles),
  email: nullable(shown('e-mail address')),
  disabled: boolean('a disabled user cannot log in, and the tokens of that user are invalid'),
  createdAt: timestamp('when the user was created'),
});
/** A user of this system. */
export type User = Static<typeof user>;

/** A user in a list. */
const listedUser = Type.Object({
  ...user.properties,
  personId: Type.Optional(
    shown('id of the person to whom `people match` has given the account; absent if none', 'PER-1'),
  ),
  sso: Type.Optional(boolean('true: single sign-on made the account; absent for others')),
  hasKey: boolean('whether the user has registered a security key'),
  registrationUntil: Type.Optional(
    timestamp('until when an ADMIN has allowed this user, whose keys were removed, to register one'),
  ),
});
/** A user in a list. */
export type ListedUser = Static<typeof listedUser>;

/** Who a token belongs to. */
const caller = Type.Object({
  ...user.properties,
  id: Type.String({
    pattern: '^(USR|TOK)-[1-9][0-9]{0,14}$',
    description: 'id of the user, or of the service token',
    examples: ['USR-1'],
  }),
  username: shown('user name; token:NAME for a service token', 'dealer-berlin'),
  expiresAt: Type.Optional(timestamp('when the service token expires; absent for a user')),
});

/** Operations on users. */
export const userOperations = additions('Users', {
  /** A username that already exists is refused with 1001. */
  createUser: {
    summary: 'Add a user',
    ...administration,
    body: Type.Object({ username, password, role: oneOf(roles), email: maybe(email) }),
    data: user,
    example: {
      body: {
        username: 'dealer-berlin',
        password: 'correct horse battery',
        role: 'DEALER',
        email: 'ops@example.com',
      },
    },
  },

  /** Disabled users are listed too. */
  listUsers: {
    summary: 'List users',
    ...adminOnly,
    query: Type.Object(pageQuery()),
    data: paged(listedUser),
  },

  /** For a service token, what it is. The role LOCAL is not a user: 2007. */
  getOwnUser: {
    summary: 'Show the calling user',
    access: roles,
    anyTokenRole: true,
    withoutKey: true,
    data: caller,
  },

  /** An absent field keeps its value. */
  updateUser: {
    summary: 'Change role or e-mail address, disable or enable',
    description: 'The last enabled ADMIN can be neither disabled nor demoted (1001). `email: null` clears the address.',
    ...administration,
    params,
    body: Type.Object({
      role: Type.Optional(oneOf(roles)),
      email: maybe(email),
      disabled: Type.Optional(Type.Boolean()),
    }),
    data: user,
    errors: [404],
    example: { params: { userId: 'USR-2' }, body: { role: 'VIEWER' } },
  },

  /** A wrong oldPassword is refused with 1003 and counts against the login limit. */
  setPassword: {
    summary: 'Set a password',
    description:
      'An ADMIN sets the password of any user; other users change their own, with oldPassword. All tokens of the user become invalid, and their streams close with 4401.',
    ...administration,
    ownUser: 'userId',
    params,
    body: Type.Object({
      password,
      oldPassword: maybe(secret({ min: 1 }, { description: 'the current password; required to change your own' })),
    }),
    data: user,
    errors: [404, Code.wrongPassword],
    example: { params: { userId: 'USR-2' }, body: { password: 'correct horse battery staple' } },
  },

  /** Idempotent: a second logout also succeeds. */
  logoutUser: {
    summary: 'Log a user out everywhere',
    description:
      'All tokens of the user become invalid, and their streams close with 4401; the password is unchanged. An ADMIN logs out any user, other users themselves.',
    ...adminPerson,
    ownUser: 'userId',
    withoutKey: true,
    params,
    data: user,
    errors: [404],
    example: { params: { userId: 'USR-2' } },
  },
});
