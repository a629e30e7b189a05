import { Type } from 'typebox';
import { route } from './define.ts';
import { endpoints } from './endpoints.ts';
import { nullable, oneOf, secret, shown, timestamp, token } from './fields.ts';
import { userIds } from './ids.ts';
import { roles } from './values.ts';

const tag = 'Authentication';
const jwt = Type.String({
  description: 'JWT; send it as Authorization: Bearer TOKEN',
  examples: ['eyJhbGciOiJIUzI1NiJ9.e30.…'],
});
const expireTime = timestamp('when the token expires');

/** Each attempt counts against the limit of the client's address. A disabled user gets 1002, whatever the password. */
export const login = route({
  id: 'login',
  ...endpoints.login,
  tag,
  summary: 'Log in',
  description: 'The token is valid for 24 hours.',
  limit: 'login',
  body: Type.Object({
    username: token({ description: 'user name', examples: ['admin'] }),
    password: secret({ min: 1 }, { description: 'password' }),
  }),
  data: Type.Object({
    token: jwt,
    expireTime,
    user: Type.Object({
      id: Type.String({ pattern: userIds.pattern }),
      username: shown('user name'),
      role: oneOf(roles),
      email: nullable(shown('e-mail address')),
    }),
  }),
  errors: [1002, 1003],
  example: { body: { username: 'admin', password: 'correct horse battery' } },
});

/** An expired token cannot be refreshed (1005). All tokens of a login end 30 days after it, or as the operator has set. */
export const refresh = route({
  id: 'refreshToken',
  ...endpoints.refresh,
  tag,
  summary: 'Get a new token before the current one expires',
  description:
    'The earlier token stays valid until it expires. No token of a login is valid for longer than 30 days after it, unless the operator has set another number of days.',
  access: roles,
  peopleOnly: true,
  limit: 'query',
  data: Type.Object({ token: jwt, expireTime }),
  errors: [],
});
