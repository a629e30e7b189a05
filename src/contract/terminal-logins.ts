/** Operations with which a person who is signed in in a browser signs in a terminal. */
import { Type } from 'typebox';
import { loginData } from './auth.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import { line, nullable, oneOf, secret, shown, timestamp, token } from './fields.ts';
import { terminalLogin } from './limits.ts';
import { roles } from './values.ts';

const userCode = token({
  description: 'code that the terminal shows, in upper or lower case',
  examples: ['K7QM-3XWP'],
});
const name = line(terminalLogin.nameLength, {
  description: 'name of the terminal, as the terminal sent it; shown to the person who approves',
  examples: ['alice@workstation-7'],
});
const expireTime = timestamp('when the request ends');

/** Logins of terminals. */
export const terminalLoginOperations = additions('Authentication', {
  /** Needs no token. The secret is in no other response. */
  createTerminalLogin: {
    summary: 'Ask for a login that a person approves in a browser',
    description: `The terminal shows \`userCode\`, and asks with \`secret\` for the result. A request is valid for ${terminalLogin.seconds / 60} minutes and gives one session.`,
    limit: 'signIn',
    body: Type.Object({ name }),
    data: Type.Object({
      requestId: shown('identifies the request'),
      userCode: shown('what the person compares', 'K7QM-3XWP'),
      secret: shown('with which the terminal gets the session; never shown'),
      expireTime,
    }),
    example: { body: { name: 'alice@workstation-7' } },
  },

  /** For the page that asks whether this is the person's own terminal. */
  showTerminalLogin: {
    summary: 'Show which terminal asks for a login',
    access: roles,
    peopleOnly: true,
    limit: 'query',
    body: Type.Object({ userCode }),
    data: Type.Object({
      userCode: shown('the code', 'K7QM-3XWP'),
      name: shown('name of the terminal, as the terminal sent it: show it as text', 'alice@workstation-7'),
      address: shown('address that the request came from', '192.0.2.7'),
      createdAt: timestamp('when the terminal asked'),
      expireTime,
    }),
    errors: [404],
    example: { body: { userCode: 'K7QM-3XWP' } },
  },

  /** Once for each request. */
  approveTerminalLogin: {
    summary: 'Sign a terminal in as the calling user',
    description:
      'The session of the terminal has the time of the last sign-in of the caller. Needs a recent sign-in in the console.',
    access: roles,
    peopleOnly: true,
    stepUp: true,
    body: Type.Object({ userCode }),
    data: Type.Object({ userCode: shown('the code', 'K7QM-3XWP'), approved: Type.Boolean() }),
    errors: [404],
    example: { body: { userCode: 'K7QM-3XWP' } },
  },

  /** 1004 if the request is unknown, was used or has ended. */
  takeTerminalLogin: {
    summary: 'Get the session that was approved',
    description: `A terminal asks every ${terminalLogin.pollSeconds} seconds. The session is returned once.`,
    limit: 'signIn',
    body: Type.Object({
      requestId: token({ description: '`requestId` of the request' }),
      secret: secret({ min: 1 }, { description: '`secret` of the request' }),
    }),
    data: Type.Object({
      state: oneOf(['PENDING', 'APPROVED']),
      login: nullable(loginData),
    }),
    errors: [Code.tokenInvalid],
    example: { body: { requestId: 'AAAA', secret: 'AAAA' } },
  },
});
