/** Accounts: who may do what. Limits, passwords, tokens, users and service tokens. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { StartSubject } from '../http/subject.ts';
import { sweepCounters } from '../requests/attempts.ts';
import type { MadeWebhook } from '../requests/callers.ts';
import type { RequestLimits } from '../requests/limiter.ts';
import { StepUpRule } from '../requests/session.ts';
import { requestLimits } from '../requests/shared-limiter.ts';
import type { TokenCheck } from '../requests/token-check.ts';
import { memoryState } from '../store/memory/short-lived.ts';
import type { ShortLived } from '../store/short-lived.ts';
import { Accounts } from './accounts.ts';
import { FIRST_USER, watchInitialPassword } from './first-admin.ts';
import { Guessing } from './guessing.ts';
import { LastUses } from './last-uses.ts';
import { Passwords } from './passwords.ts';
import * as present from './present.ts';
import { authentication, ServiceTokens } from './service-tokens.ts';
import { signingKeys } from './signing-keys.ts';
import { TokenService } from './token-service.ts';
import { Tokens } from './tokens.ts';
import { UserService } from './user-service.ts';

declare module '../http/subject.ts' {
  interface Offers {
    /** The webhooks of the registry. */
    webhooks?: () => Promise<readonly MadeWebhook[]>;
    /** The checks of every request. */
    accounts: {
      readonly limiter: RequestLimits;
      readonly shortLived: ShortLived;
      readonly guessing: Guessing;
      readonly passwords: Passwords;
      readonly logins: Tokens;
      readonly serviceTokens: ServiceTokens;
      readonly tokens: TokenCheck;
      readonly stepUp: StepUpRule;
    };
  }
}

export const startAccounts: StartSubject = async ({ settings, log, home, stack, store, access, now, offers }) => {
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
  const stepUp = new StepUpRule(settings.stepUp, now);
  offers.accounts = { limiter, shortLived, guessing, passwords, logins, serviceTokens, tokens, stepUp };
  const registrations = () => offers.signIn.policies.registrations();
  const onPasswordChanged = async (user: number) => {
    if (user === FIRST_USER) await home.remove('initialPassword');
  };
  const users = new UserService({ store, passwords, now, registrations, onPasswordChanged });
  const webhooks = async () => (await offers.webhooks?.()) ?? [];
  const ownTokens = new TokenService({ store, lastUses, now, webhooks });
  return {
    operations: {
      createUser: ({ context, body }) => users.create(context, body),
      listUsers: ({ query }) => users.list(query),
      getOwnUser: async ({ context }) => {
        const me = present.me(context.caller);
        if (!me) throw new ApiError(Code.noPermission);
        return me;
      },
      updateUser: ({ context, params, body }) => users.update(context, params.userId, body),
      setPassword: ({ context, params, body }) => users.setPassword(context, params.userId, body),
      logoutUser: ({ context, params }) => users.logout(context, params.userId),
      createToken: ({ context, body }) => ownTokens.create(context, body),
      listTokens: ({ query }) => ownTokens.list(query),
      adoptToken: ({ context, params }) => ownTokens.adopt(context, params.tokenId),
      revokeToken: ({ context, params }) => ownTokens.revoke(context, params.tokenId),
    },
  };
};
