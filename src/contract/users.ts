import { type Static, Type } from 'typebox';
import { roles, route } from './define.ts';
import { endpoints } from './endpoints.ts';
import { line, nullable, oneOf, secret, shown, timestamp, token } from './fields.ts';
import { userIds } from './ids.ts';
import { passwordLength } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { textShapes } from './values.ts';

const tag = 'Users';
const adminOnly = ['ADMIN'] as const;
const params = Type.Object({ userId: token({ description: 'user id', examples: ['USR-1'] }) });

export const username = line(64, {
  ...textShapes.username,
  description: 'user name, unique, case-sensitive',
  examples: ['dealer-berlin'],
});
export const email = line(254, {
  ...textShapes.email,
  description: 'e-mail address',
  examples: ['ops@example.com'],
});
export const password = secret(passwordLength, {
  description: 'password, 8 to 200 characters',
  examples: ['correct horse battery'],
});

export const user = Type.Object({
  id: Type.String({ pattern: userIds.pattern, examples: ['USR-1'] }),
  username: shown('user name', 'dealer-berlin'),
  role: oneOf(roles),
  email: nullable(shown('e-mail address')),
  disabled: Type.Boolean({ description: 'a disabled user cannot log in, and the tokens of one are no longer good' }),
  createdAt: timestamp('when the user was made'),
});
export type User = Static<typeof user>;

export const createUser = route({
  id: 'createUser',
  ...endpoints.createUser,
  tag,
  summary: 'Add a user',
  extension: true,
  access: adminOnly,
  limit: 'modify',
  body: Type.Object({ username, password, role: oneOf(roles), email: Type.Optional(nullable(email)) }),
  data: user,
  errors: [],
  example: {
    body: { username: 'dealer-berlin', password: 'correct horse battery', role: 'DEALER', email: 'ops@example.com' },
  },
});

export const listUsers = route({
  id: 'listUsers',
  ...endpoints.listUsers,
  tag,
  summary: 'List users',
  extension: true,
  access: adminOnly,
  limit: 'query',
  query: Type.Object(pageQuery()),
  data: paged(user),
  errors: [],
});

export const me = route({
  id: 'getOwnUser',
  ...endpoints.me,
  tag,
  summary: 'Show the user who asks',
  extension: true,
  access: roles,
  limit: 'query',
  data: user,
  errors: [],
});

export const updateUser = route({
  id: 'updateUser',
  ...endpoints.updateUser,
  tag,
  summary: 'Change role or e-mail address, disable or enable',
  description: 'The last enabled ADMIN can be neither disabled nor demoted. `email: null` clears the address.',
  extension: true,
  access: adminOnly,
  limit: 'modify',
  params,
  body: Type.Object({
    role: Type.Optional(oneOf(roles)),
    email: Type.Optional(nullable(email)),
    disabled: Type.Optional(Type.Boolean()),
  }),
  data: user,
  errors: [404],
  example: { params: { userId: 'USR-2' }, body: { role: 'VIEWER' } },
});

export const setPassword = route({
  id: 'setPassword',
  ...endpoints.setPassword,
  tag,
  summary: 'Set a password',
  description:
    "An ADMIN sets anybody's; everybody sets the own one, with oldPassword. All tokens of the user stop being good, and streams close with 4401.",
  extension: true,
  access: adminOnly,
  ownUser: 'userId',
  limit: 'modify',
  params,
  body: Type.Object({
    password,
    oldPassword: Type.Optional(
      nullable(secret({ min: 1 }, { description: 'the present password; required for the own one' })),
    ),
  }),
  data: user,
  errors: [404, 1003],
  example: { params: { userId: 'USR-2' }, body: { password: 'correct horse battery staple' } },
});

export const logoutUser = route({
  id: 'logoutUser',
  ...endpoints.logoutUser,
  tag,
  summary: 'Log a user out everywhere',
  description:
    'All tokens of the user stop being good, and streams close with 4401; the password stays. An ADMIN does it for anybody, everybody for themselves.',
  extension: true,
  access: adminOnly,
  ownUser: 'userId',
  limit: 'modify',
  params,
  data: user,
  errors: [404],
  example: { params: { userId: 'USR-2' } },
});
