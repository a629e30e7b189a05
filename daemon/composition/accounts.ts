/** Who may do what: limits, logins, service tokens, and the services of accounts. */

import type { FastifyRequest } from 'fastify';
import { FIRST_USER } from '../home/first-admin.ts';
import { watchInitialPassword } from '../home/initial-password.ts';
import type { Instance } from '../home/instance.ts';
import { signingKeys } from '../home/signing-keys.ts';
import type { OriginRule } from '../http/origin.ts';
import { originOf, relyingPartyOf } from '../http/relying-party.ts';
import { now, type Registry, type Start } from '../registry.ts';
import { Accounts } from '../services/accounts.ts';
import { sweepCounters } from '../services/attempts.ts';
import { AuthService } from '../services/auth.ts';
import { authentication } from '../services/authentication.ts';
import { Guessing } from '../services/guessing.ts';
import { LastUses } from '../services/last-uses.ts';
import { Passwords } from '../services/passwords.ts';
import { ServiceTokens } from '../services/service-tokens.ts';
import { StepUpRule } from '../services/session.ts';
import { requestLimits } from '../services/shared-limiter.ts';
import { KeySignIn } from '../services/sign-in/key-sign-in.ts';
import { PasskeyService } from '../services/sign-in/passkeys.ts';
import { SignInPolicies } from '../services/sign-in/sign-in-policies.ts';
import { SignedChallenges } from '../services/sign-in/signed-challenges.ts';
import { TerminalLogins } from '../services/sign-in/terminal-logins.ts';
import { SignInCodes } from '../services/sign-in-codes.ts';
import { SsoAccounts } from '../services/sso/accounts.ts';
import { ProviderRequests } from '../services/sso/provider-requests.ts';
import { SsoSessions } from '../services/sso/sessions.ts';
import { SsoSettingsService } from '../services/sso/settings.ts';
import { SsoSignIn } from '../services/sso/sign-in.ts';
import { SsoTerminals } from '../services/sso/terminals.ts';
import { TokenService } from '../services/token-service.ts';
import { Tokens } from '../services/tokens.ts';
import { UserService } from '../services/users.ts';
import { memoryState } from '../store/memory/short-lived.ts';

/** What every request is checked with. */
export async function createChecks({ settings, log, home, stack }: Start, { store, access }: Registry) {
  const limiter = requestLimits(store, settings.limits);
  stack.add(() => limiter.stop());
  const shortLived = store.shortLived ?? memoryState();
  if (store.shortLived) stack.add(sweepCounters(store.shortLived.counters));
  const guessing = new Guessing({ enabled: settings.limits.login !== null, counters: shortLived.counters });
  const passwords = new Passwords(store, limiter, guessing, settings.passwordCost, access);
  if (settings.store)
    stack.add(watchInitialPassword({ home, store, passwords, warn: (message, err) => log.warn({ err }, message) }));
  const logins = new Tokens(await signingKeys(home, now()), new Accounts(store), now, settings.sessionDays);
  const lastUses = new LastUses({ store, now });
  stack.add(() => lastUses.stop());
  const serviceTokens = new ServiceTokens({ store, lastUses, now });
  const tokens = authentication(logins, serviceTokens);
  return { limiter, shortLived, guessing, passwords, logins, lastUses, serviceTokens, tokens };
}
/** See `createChecks`. */
export type Checks = Awaited<ReturnType<typeof createChecks>>;

/** The services of logins, users and service tokens. */
export function accountServices(
  { settings, home, log }: Start,
  { store, access }: Registry,
  { shortLived, guessing, passwords, logins: tokens, lastUses, serviceTokens }: Checks,
  instance: Instance,
  origin: OriginRule,
) {
  const { counters, codes, terminalLogins: terminals } = shortLived;
  const challenges = new SignedChallenges(instance.secret('security keys'), counters);
  const policies = new SignInPolicies({ store, now });
  const sealingKey = instance.secret('single sign-on');
  const local = new SsoSettingsService({ store, sealingKey, allowed: settings.webhookAllow, now });
  const ssoAccounts = new SsoAccounts({ store, now });
  const ofSso = { store, settings: local, accounts: ssoAccounts, counters, sealingKey, log, now };
  const sessions = new SsoSessions({ ...ofSso, days: settings.sessionDays });
  tokens.checkSessionsWith(sessions);
  const keys = new KeySignIn({ store, challenges, tokens, guessing, local, now, access });
  const signInCodes = new SignInCodes({ store, codes, tokens, serviceTokens, policies, now, access });
  return {
    auth: new AuthService({ store, passwords, guessing, tokens, policies, keys, local, sessions, now, access }),
    ssoSettings: local,
    ssoSessions: sessions,
    ssoSignIn: new SsoSignIn({
      settings: local,
      accounts: ssoAccounts,
      sessions,
      tokens,
      codes: signInCodes,
      challenges,
      requests: new ProviderRequests({ counters, limited: settings.limits.login !== null }),
      terminals: new SsoTerminals({ challenges, codes, sealingKey, now }),
      policies,
      sealingKey,
      log,
      now,
      access,
    }),
    originOf: (request: FastifyRequest) => originOf(request, settings.publicUrl),
    keySignIn: keys,
    passkeys: new PasskeyService({ store, challenges, policies, now }),
    serviceTokens: new TokenService({ store, lastUses, now }),
    signInCodes,
    signInPolicies: policies,
    siteOf: (request: FastifyRequest) => relyingPartyOf(request, { origin, publicUrl: settings.publicUrl }),
    stepUp: new StepUpRule(settings.stepUp, now),
    terminalLogins: new TerminalLogins({ store, terminals, challenges, tokens, policies, now, access }),
    users: new UserService({
      store,
      passwords,
      now,
      onPasswordChanged: async user => {
        if (user === FIRST_USER) await home.remove('initialPassword');
      },
    }),
  };
}
/** See `accountServices`. */
export type AccountServices = ReturnType<typeof accountServices>;
