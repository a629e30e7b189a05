/** Sign-ins: with a password, a security key, a code, and on a terminal. */
import { originRule } from '../http/origin.ts';
import type { StartSubject } from '../http/subject.ts';
import { AuthService } from './auth.ts';
import { SignInCodes } from './codes.ts';
import type { HolderLinks, KeyJudge, LocalJudge, PersonFinder, SessionJudge } from './judges.ts';
import { KeySignIn } from './key-sign-in.ts';
import { PasskeyService } from './passkeys.ts';
import { SignInPolicies } from './policies.ts';
import { signInOperations } from './routes.ts';
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
  const auth = { ...ofLogins, passwords, guessing, keys: keySignIn, local: judges, sessions: judges };
  const rule = { origin: originRule(settings.host, settings.allowHost), publicUrl: settings.publicUrl };
  return {
    operations: signInOperations({
      auth: new AuthService(auth),
      keySignIn,
      passkeys,
      signInPolicies: policies,
      terminalLogins: new TerminalLogins({ ...ofLogins, terminals, challenges }),
      signInCodes: codes,
      siteOf: request => relyingPartyOf(request, rule),
    }),
  };
};
