import { Type } from 'typebox';
import { loginData } from './auth.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import { oneOf, secret, timestamp } from './fields.ts';
import { signInCodeSeconds } from './limits.ts';
import { codePurposes, roles } from './values.ts';

const purpose = oneOf(codePurposes, {
  description: 'SESSION opens a session at /api/auth/exchange; STREAM opens one notification stream, as ?code=',
});

/** Single-use codes. */
export const signInCodeOperations = additions('Authentication', {
  /** The only response that contains the code: the service stores its digest. A service token gets no code for a session (2007). */
  createSignInCode: {
    summary: 'Get a single-use code in place of a token',
    description: `For places that a token must not reach, such as an address. The code is valid for ${signInCodeSeconds} s and for one use. The session or stream that it opens has the permissions and the expiry of the session that created it.`,
    access: roles,
    limit: 'query',
    body: Type.Object({ purpose }),
    data: Type.Object({
      code: Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: '256 random bits in base64url',
        examples: ['kZ0p1x3vVb6mC7sQ9tYw2uRj4hLd5gNf8aEeXoIqTzM'],
      }),
      purpose,
      expireTime: timestamp('when the code expires'),
    }),
    example: { body: { purpose: 'SESSION' } },
  },

  /** Each attempt counts against the login limit of the client's address. Every code that is not valid is refused with the same 1004. */
  exchangeSignInCode: {
    summary: 'Log in with a single-use code',
    description:
      'Opens another session of the login that made the code: all tokens of a login end at the same time. A page of another origin is refused with 2007, before the code is used.',
    limit: 'signIn',
    body: Type.Object({ code: secret({ min: 1 }, { description: 'code of the purpose SESSION' }) }),
    data: loginData,
    errors: [Code.tokenInvalid, Code.noPermission],
    example: { body: { code: 'kZ0p1x3vVb6mC7sQ9tYw2uRj4hLd5gNf8aEeXoIqTzM' } },
  },
});
