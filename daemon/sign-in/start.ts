/** Sign-ins: with a password, a security key, a code, and on a terminal. */

import type { FastifyRequest } from 'fastify';
import * as present from '../accounts/present.ts';
import { bearer } from '../http/operation.ts';
import { checkSameOrigin, originRule } from '../http/origin.ts';
import type { StartSubject } from '../http/subject.ts';
import { AuthService } from './auth.ts';
import { SignInCodes } from './codes.ts';
import type { HolderLinks, KeyJudge, LocalJudge, PersonFinder, SessionJudge } from './judges.ts';
import { KeySignIn } from './key-sign-in.ts';
import { PasskeyService } from './passkeys.ts';
import { SignInPolicies } from './policies.ts';
import { SignedChallenges } from './signed-challenges.ts';
import { relyingPartyOf } from './site.ts';
import { TerminalLogins } from './terminal-logins.ts';

declare module '../http/subject.ts' {
  interface Offers {
    signIn: {
      readonly challenges: SignedChallenges;
      readonly policies: SignInPolicies;
      readonly passkeys: PasskeyService;
      readonly codes: SignInCodes;
    };
    /** Absent without single sign-on: then sign-ins are local, and allowed. */
    signInJudges?: LocalJudge & KeyJudge & SessionJudge;
    persons?: PersonFinder;
    holderLinks?: HolderLinks;
  }
}

export const startSignIn: StartSubject = ({ settings, store, access, instance, now, offers }) => {
  const { shortLived, passwords, guessing, logins: tokens, serviceTokens } = offers.accounts;
  const challenges = new SignedChallenges(instance.secret('security keys'), shortLived.counters);
  const policies = new SignInPolicies({ store, now });
  const judges: LocalJudge & KeyJudge & SessionJudge = {
    demandLocal: async (user, address) => offers.signInJudges?.demandLocal(user, address),
    admitKey: async (...asked) => offers.signInJudges?.admitKey(...asked),
    demand: async (user, id) => offers.signInJudges?.demand(user, id),
  };
  const keySignIn = new KeySignIn({ store, challenges, tokens, guessing, local: judges, now, access });
  const passkeys = new PasskeyService({ store, challenges, policies, now });
  const codes = new SignInCodes({ store, codes: shortLived.codes, tokens, serviceTokens, policies, now, access });
  offers.signIn = { challenges, policies, passkeys, codes };
  const terminals = shortLived.terminalLogins;
  const ofLogins = { store, tokens, policies, now, access };
  const rule = { origin: originRule(settings.host, settings.allowHost), publicUrl: settings.publicUrl };
  const ofAuth = { passwords, guessing, keys: keySignIn, local: judges, sessions: judges };
  const auth = new AuthService({ ...ofLogins, ...ofAuth });
  const terminalLogins = new TerminalLogins({ ...ofLogins, terminals, challenges });
  const siteOf = (request: FastifyRequest) => relyingPartyOf(request, rule);
  return {
    operations: {
      login: ({ body, context: { address, requestId }, request }) =>
        auth.login(body, { address, requestId, site: siteOf(request) }),
      refreshToken: ({ context }) => auth.refresh(context),
      getSession: async ({ context: { caller } }) => present.session(caller),
      createSignInCode: ({ context, body, request }) => codes.create(context.caller, bearer(request), body),
      exchangeSignInCode: ({ context, body, request }) => {
        checkSameOrigin(request.raw);
        return codes.exchange(body, context);
      },
      getSignInOptions: ({ request }) => keySignIn.options(siteOf(request)),
      signInWithKey: ({ body, context: { address, requestId }, request }) =>
        keySignIn.login(body, siteOf(request), { address, requestId }),
      getKeyRegistrationOptions: ({ context, request }) => passkeys.options(context, siteOf(request)),
      registerKey: ({ context, body, request }) => passkeys.register(context, body, siteOf(request)),
      createTerminalLogin: ({ context, body }) => terminalLogins.create(context, body),
      showTerminalLogin: ({ body }) => terminalLogins.show(body),
      approveTerminalLogin: ({ context, body, request }) => terminalLogins.approve(context, bearer(request), body),
      takeTerminalLogin: ({ context: { address, requestId }, body }) =>
        terminalLogins.take(body, { address, requestId }),
      getStepUpOptions: ({ context, request }) => keySignIn.stepUpOptions(context, siteOf(request)),
      stepUp: ({ context, body, request }) => auth.stepUp(context, body, siteOf(request)),
      showSignInPolicy: () => policies.show(),
      setSignInPolicy: ({ context, body }) => policies.set(context, body),
      listKeysOfUser: ({ params }) => passkeys.list(params.userId),
      removeKeyOfUser: ({ context, params }) => passkeys.remove(context, params.userId, params.passkeyId),
      allowRegistration: ({ context, params }) => policies.allowRegistration(context, params.userId),
      requireKeyOfUser: ({ context, params, body }) => policies.require(context, params.userId, body),
    },
  };
};
