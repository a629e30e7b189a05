import type { FastifyRequest } from 'fastify';
import type { Bindings } from '../http/bindings.ts';
import { checkSameOrigin } from '../http/origin.ts';
import { callbackOf, finishSso, setSsoCookie, ssoCookie } from './http.ts';
import type { SsoSessions } from './sessions.ts';
import type { SsoSettingsService } from './settings.ts';
import type { SsoSignIn } from './sign-in.ts';

/** The services of single sign-on. */
interface SsoServices {
  readonly ssoSettings: SsoSettingsService;
  readonly ssoSignIn: SsoSignIn;
  readonly ssoSessions: SsoSessions;
  /** Where people open the daemon. */
  readonly originOf: (request: FastifyRequest) => string;
}

/** Single sign-on. */
export const ssoOperations = (to: SsoServices): Bindings => ({
  showSso: () => to.ssoSettings.show(),
  showSsoSettings: () => to.ssoSettings.settings(),
  setSso: ({ context, body }) => to.ssoSettings.set(context, body),
  testSso: ({ request }) => to.ssoSettings.test(to.originOf(request)),
  startSso: async ({ body, request, reply, context: { address } }) => {
    checkSameOrigin(request.raw);
    const origin = to.originOf(request);
    const { data, cookie } = await to.ssoSignIn.start(body, callbackOf(origin), {
      earlier: ssoCookie(request),
      address,
    });
    if (cookie !== null) reply.header('set-cookie', setSsoCookie(origin, cookie));
    return data;
  },
  finishSso: { raw: call => finishSso(to.ssoSignIn, to.originOf(call.request), call) },
  showSsoTerminal: ({ body }) => to.ssoSignIn.showTerminal(body),
  takeSso: ({ body, context: { address, requestId } }) => to.ssoSignIn.take(body, { address, requestId }),
  startSsoDevice: ({ context: { address, requestId } }) => to.ssoSignIn.startDevice({ address, requestId }),
  pollSsoDevice: ({ body, context: { address, requestId } }) => to.ssoSignIn.pollDevice(body, { address, requestId }),
  logoutSso: ({ body }) => to.ssoSessions.logout(body.logout_token),
});
