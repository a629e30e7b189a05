/** Binds logins and what they are made with: security keys, their policy, and signing in again. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { routes } from '../../../src/contract/routes.ts';
import type { AuthService } from '../../services/auth.ts';
import type { KeySignIn } from '../../services/sign-in/key-sign-in.ts';
import type { PasskeyService } from '../../services/sign-in/passkeys.ts';
import type { RelyingParty } from '../../services/sign-in/relying-party.ts';
import type { SignInPolicies } from '../../services/sign-in/sign-in-policies.ts';
import type { TerminalLogins } from '../../services/sign-in/terminal-logins.ts';
import { bearer, type OperationParts, operation } from '../operation.ts';

/** What the operations work with. */
interface SignInRouteParts extends OperationParts {
  readonly auth: AuthService;
  readonly keySignIn: KeySignIn;
  readonly passkeys: PasskeyService;
  readonly signInPolicies: SignInPolicies;
  readonly terminalLogins: TerminalLogins;
  /** The site of a request, or why there is none. */
  readonly siteOf: (request: FastifyRequest) => RelyingParty | string;
}

/** Logins, and the security keys of users. */
export function signInRoutes(app: FastifyInstance, parts: SignInRouteParts): void {
  const { auth, keySignIn, passkeys, signInPolicies, siteOf } = parts;
  operation(app, parts, routes.login, ({ body, context: { address, requestId }, request }) =>
    auth.login(body, { address, requestId, site: siteOf(request) }),
  );
  operation(app, parts, routes.refreshToken, ({ context }) => auth.refresh(context.caller));
  operation(app, parts, routes.getSignInOptions, ({ request }) => keySignIn.options(siteOf(request)));
  operation(app, parts, routes.signInWithKey, ({ body, context, request }) =>
    keySignIn.login(body, siteOf(request), { address: context.address, requestId: context.requestId }),
  );
  operation(app, parts, routes.getKeyRegistrationOptions, ({ context, request }) =>
    passkeys.options(context, siteOf(request)),
  );
  operation(app, parts, routes.registerKey, ({ context, body, request }) =>
    passkeys.register(context, body, siteOf(request)),
  );
  operation(app, parts, routes.getStepUpOptions, ({ context, request }) =>
    keySignIn.stepUpOptions(context, siteOf(request)),
  );
  operation(app, parts, routes.stepUp, ({ context, body, request }) => auth.stepUp(context, body, siteOf(request)));
  operation(app, parts, routes.listKeysOfUser, ({ params }) => passkeys.list(params.userId));
  operation(app, parts, routes.removeKeyOfUser, ({ context, params }) =>
    passkeys.remove(context, params.userId, params.passkeyId),
  );
  operation(app, parts, routes.requireKeyOfUser, ({ context, params, body }) =>
    signInPolicies.require(context, params.userId, body),
  );
  operation(app, parts, routes.showSignInPolicy, () => signInPolicies.show());
  operation(app, parts, routes.setSignInPolicy, ({ context, body }) => signInPolicies.set(context, body));
}

/** Logins of terminals that a person approves in a browser. */
export function terminalLoginRoutes(
  app: FastifyInstance,
  parts: Pick<SignInRouteParts, keyof OperationParts | 'terminalLogins'>,
): void {
  const { terminalLogins } = parts;
  operation(app, parts, routes.createTerminalLogin, ({ context, body }) => terminalLogins.create(context, body));
  operation(app, parts, routes.showTerminalLogin, ({ body }) => terminalLogins.show(body));
  operation(app, parts, routes.approveTerminalLogin, ({ context, body, request }) =>
    terminalLogins.approve(context, bearer(request), body),
  );
  operation(app, parts, routes.takeTerminalLogin, ({ context: { address, requestId }, body }) =>
    terminalLogins.take(body, { address, requestId }),
  );
}
