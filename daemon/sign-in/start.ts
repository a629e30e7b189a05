/** Sign-ins: with a password, a security key, a code, and on a terminal. */
import { originRule } from '../http/origin.ts';
import { relyingPartyOf } from '../http/relying-party.ts';
import type { StartSubject } from '../http/subject.ts';
import { AuthService } from '../services/auth.ts';
import { KeySignIn } from '../services/sign-in/key-sign-in.ts';
import { PasskeyService } from '../services/sign-in/passkeys.ts';
import { SignInPolicies } from '../services/sign-in/sign-in-policies.ts';
import { SignedChallenges } from '../services/sign-in/signed-challenges.ts';
import { TerminalLogins } from '../services/sign-in/terminal-logins.ts';
import { SignInCodes } from '../services/sign-in-codes.ts';
import type { LocalJudge, SessionJudge } from './judges.ts';
import { signInOperations } from './routes.ts';

declare module '../http/subject.ts' {
  interface Offers {
    signIn: {
      readonly challenges: SignedChallenges;
      readonly policies: SignInPolicies;
      readonly passkeys: PasskeyService;
      readonly codes: SignInCodes;
    };
    /** Absent without single sign-on: then sign-ins are local, and allowed. */
    signInJudges?: LocalJudge & SessionJudge;
  }
}

export const startSignIn: StartSubject = ({ settings, store, access, instance, now, offers }) => {
  const { shortLived, passwords, guessing, logins: tokens, serviceTokens } = offers.accounts;
  const challenges = new SignedChallenges(instance.secret('security keys'), shortLived.counters);
  const policies = new SignInPolicies({ store, now });
  const judges: LocalJudge & SessionJudge = {
    demandLocal: async (user, address) => offers.signInJudges?.demandLocal(user, address),
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
