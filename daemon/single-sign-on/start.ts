/** Single sign-on: its settings, sign-ins at the provider, and the sessions that came from it. */

import type { FastifyRequest } from 'fastify';
import { checkSameOrigin } from '../http/origin.ts';
import type { StartSubject } from '../http/subject.ts';
import { originOf } from '../sign-in/site.ts';
import { SsoAccounts } from './accounts.ts';
import { HolderKeys } from './holder-keys.ts';
import { acceptLogoutForms, callbackOf, finishSso, setSsoCookie, ssoCookie } from './http.ts';
import { ProviderRequests } from './provider-requests.ts';
import { SsoSessions } from './sessions.ts';
import { SsoSettingsService } from './settings.ts';
import { SsoSignIn } from './sign-in.ts';
import { SsoTerminals } from './terminals.ts';

export const startSingleSignOn: StartSubject = ({ settings: given, log, store, access, instance, now, offers }) => {
  const { shortLived, logins: tokens } = offers.accounts;
  const { challenges, policies, codes } = offers.signIn;
  const { counters } = shortLived;
  const sealingKey = instance.secret('single sign-on');
  const settings = new SsoSettingsService({ store, sealingKey, allowed: given.webhookAllow, now });
  const accounts = new SsoAccounts({ store, now, persons: () => offers.persons });
  const shared = { settings, accounts, sealingKey, log, now };
  const sessions = new SsoSessions({ ...shared, store, counters, days: given.sessionDays });
  const ofKeys = { store, settings, accounts, sessions, now };
  const keys = new HolderKeys({ ...ofKeys, persons: () => offers.persons, issued: () => offers.issued });
  tokens.checkSessionsWith({
    isFresh: (user, id) => sessions.isFresh(user, id),
    check: (user, id) => keys.check(user, id),
  });
  offers.signInJudges = {
    demandLocal: (user, address) => settings.demandLocal(user, address),
    admitKey: (...asked) => keys.admitKey(...asked),
    demand: (user, id) => sessions.demand(user, id),
  };
  const requests = new ProviderRequests({ counters, limited: given.limits.login !== null });
  const terminals = new SsoTerminals({ challenges, codes: shortLived.codes, sealingKey, now });
  const ofSignIn = { ...shared, sessions, tokens, codes, challenges, policies, requests, terminals, access };
  offers.holderLinks = accounts;
  const signIn = new SsoSignIn(ofSignIn);
  const pageOf = (request: FastifyRequest) => originOf(request, given.publicUrl);
  return {
    operations: {
      showSso: () => settings.show(),
      showSsoSettings: () => settings.settings(),
      setSso: ({ context, body }) => settings.set(context, body),
      testSso: ({ request }) => settings.test(pageOf(request)),
      startSso: async ({ body, request, reply, context: { address } }) => {
        checkSameOrigin(request.raw);
        const origin = pageOf(request);
        const { data, cookie } = await signIn.start(body, callbackOf(origin), {
          earlier: ssoCookie(request),
          address,
        });
        if (cookie !== null) reply.header('set-cookie', setSsoCookie(origin, cookie));
        return data;
      },
      finishSso: { raw: call => finishSso(signIn, pageOf(call.request), call) },
      showSsoTerminal: ({ body }) => signIn.showTerminal(body),
      takeSso: ({ body, context: { address, requestId } }) => signIn.take(body, { address, requestId }),
      startSsoDevice: ({ context: { address, requestId } }) => signIn.startDevice({ address, requestId }),
      pollSsoDevice: ({ body, context: { address, requestId } }) => signIn.pollDevice(body, { address, requestId }),
      logoutSso: ({ body }) => sessions.logout(body.logout_token),
    },
    routes: acceptLogoutForms,
  };
};
