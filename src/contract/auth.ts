import { Type } from 'typebox';
import { Code } from './codes.ts';
import { operations } from './define.ts';
import { boolean, maybe, nullable, oneOf, secret, shown, timestamp, token } from './fields.ts';
import { userIds } from './ids.ts';
import { accountRoles, roles } from './values.ts';

/** A token of a login. */
export const jwt = Type.String({
  description: 'JWT; send it as Authorization: Bearer TOKEN',
  examples: ['eyJhbGciOiJIUzI1NiJ9.e30.…'],
});
/** When a token expires. */
export const expireTime = timestamp('when the token expires');

/** A page that keeps its token in the browser sets this: some operations then need a recent sign-in. */
export const session = maybe(
  oneOf(['CONSOLE'], {
    description: 'CONSOLE: a session in a browser, in which some operations need a sign-in of the last ten minutes',
  }),
);

/** The response to a login. */
export const loginData = Type.Object({
  token: jwt,
  expireTime,
  user: Type.Object({
    id: Type.String({ pattern: userIds.pattern }),
    username: shown('user name'),
    role: oneOf(accountRoles),
    email: nullable(shown('e-mail address')),
  }),
  mustRegisterKey: Type.Optional(
    boolean('true: the token may only register a security key, which this user must have'),
  ),
  registrationUntil: Type.Optional(
    timestamp('until when an ADMIN has allowed this user, whose keys were removed, to register one'),
  ),
});

/** Logins. */
export const authOperations = operations('Authentication', {
  /** Each attempt counts against the limit of the client's address. A disabled user gets 1002, whatever the password. */
  login: {
    summary: 'Log in',
    description:
      'The token is valid for 24 hours. A user who must sign in with a security key gets 1004 after the correct password, with `data.loginTicket` and, where the address allows it, `data.secondFactor`: options for `navigator.credentials.get`. The second step is `POST /api/auth/webauthn/login`. A user whose keys were all removed gets 1004 with `data.allowRegistration`: an ADMIN has to allow the registration of another one.',
    limit: 'login',
    body: Type.Object({
      username: token({ description: 'user name', examples: ['admin'] }),
      password: secret({ min: 1 }, { description: 'password' }),
      session,
    }),
    data: loginData,
    errors: [Code.userNotFound, Code.wrongPassword, Code.tokenInvalid, Code.noPermission],
    example: { body: { username: 'admin', password: 'correct horse battery' } },
  },

  /** An expired token cannot be refreshed (1005). All tokens of a login end 30 days after it, or as the operator has set. */
  refreshToken: {
    summary: 'Get a new token before the current one expires',
    description:
      'The earlier token stays valid until it expires. No token of a login is valid for longer than 30 days after it, unless the operator has set another number of days.',
    access: roles,
    peopleOnly: true,
    limit: 'query',
    data: Type.Object({ token: jwt, expireTime }),
  },
});
