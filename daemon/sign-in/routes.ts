import type { FastifyRequest } from 'fastify';
import * as present from '../accounts/present.ts';
import type { Bindings } from '../http/bindings.ts';
import { bearer } from '../http/operation.ts';
import { checkSameOrigin } from '../http/origin.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import type { AuthService } from './auth.ts';
import type { SignInCodes } from './codes.ts';
import type { KeySignIn } from './key-sign-in.ts';
import type { PasskeyService } from './passkeys.ts';
import type { SignInPolicies } from './policies.ts';
import type { TerminalLogins } from './terminal-logins.ts';

/** The services of sign-ins. */
interface SignInServices {
  readonly auth: AuthService;
  readonly keySignIn: KeySignIn;
  readonly passkeys: PasskeyService;
  readonly signInPolicies: SignInPolicies;
  readonly terminalLogins: TerminalLogins;
  readonly signInCodes: SignInCodes;
  /** The site of a request, or why there is none. */
  readonly siteOf: (request: FastifyRequest) => RelyingParty | string;
}

/** Logins and what they are made with: passwords, security keys, codes, and approvals of terminals; the keys of users. */
export const signInOperations = (to: SignInServices): Bindings => ({
  login: ({ body, context: { address, requestId }, request }) =>
    to.auth.login(body, { address, requestId, site: to.siteOf(request) }),
  refreshToken: ({ context }) => to.auth.refresh(context),
  getSession: async ({ context: { caller } }) => present.session(caller),
  createSignInCode: ({ context, body, request }) => to.signInCodes.create(context.caller, bearer(request), body),
  exchangeSignInCode: ({ context, body, request }) => {
    checkSameOrigin(request.raw);
    return to.signInCodes.exchange(body, context);
  },
  getSignInOptions: ({ request }) => to.keySignIn.options(to.siteOf(request)),
  signInWithKey: ({ body, context: { address, requestId }, request }) =>
    to.keySignIn.login(body, to.siteOf(request), { address, requestId }),
  getKeyRegistrationOptions: ({ context, request }) => to.passkeys.options(context, to.siteOf(request)),
  registerKey: ({ context, body, request }) => to.passkeys.register(context, body, to.siteOf(request)),
  createTerminalLogin: ({ context, body }) => to.terminalLogins.create(context, body),
  showTerminalLogin: ({ body }) => to.terminalLogins.show(body),
  approveTerminalLogin: ({ context, body, request }) => to.terminalLogins.approve(context, bearer(request), body),
  takeTerminalLogin: ({ context: { address, requestId }, body }) =>
    to.terminalLogins.take(body, { address, requestId }),
  getStepUpOptions: ({ context, request }) => to.keySignIn.stepUpOptions(context, to.siteOf(request)),
  stepUp: ({ context, body, request }) => to.auth.stepUp(context, body, to.siteOf(request)),
  showSignInPolicy: () => to.signInPolicies.show(),
  setSignInPolicy: ({ context, body }) => to.signInPolicies.set(context, body),
  listKeysOfUser: ({ params }) => to.passkeys.list(params.userId),
  removeKeyOfUser: ({ context, params }) => to.passkeys.remove(context, params.userId, params.passkeyId),
  allowRegistration: ({ context, params }) => to.signInPolicies.allowRegistration(context, params.userId),
  requireKeyOfUser: ({ context, params, body }) => to.signInPolicies.require(context, params.userId, body),
});
