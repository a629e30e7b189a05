/** Single sign-on over HTTP: the cookie that binds a sign-in to a browser, and the way back to the console. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import { ssoBounds } from '../../src/contract/limits.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { consolePath } from '../../src/contract/values.ts';
import type { Call } from '../http/operation.ts';
import { problemOf, TerminalRefused } from './refused.ts';
import type { SsoSignIn } from './sign-in.ts';

const NAME = 'devmgr-sso';
/** Of a browser in which someone has signed in. It opens nothing. */
const KNOWN = 'devmgr-sso-known';
const PATH = '/api/auth/sso';

/** Where the provider sends browsers. */
export const callbackOf = (origin: string): string => origin + endpoints.finishSso.path;

/** The cookie of a start in this browser; undefined if there is none. */
export const ssoCookie = (
  { headers: { cookie = '' } }: Pick<FastifyRequest, 'headers'>,
  name = NAME,
): string | undefined =>
  cookie
    .split(';')
    .map(part => part.trim())
    .find(part => part.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/** Lax: the browser sends it when the provider leads it back, and with no request of a page of another site. */
export const setSsoCookie = (
  origin: string,
  value: string,
  { name, seconds }: { readonly name: string; readonly seconds: number } = {
    name: NAME,
    seconds: ssoBounds.signInSeconds,
  },
): string =>
  `${name}=${value}; Path=${PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${origin.startsWith('https:') ? '; Secure' : ''}`;

/**
 * Leads a browser to the console, or to the terminal that waits for a sign-in which was refused. The code is behind #, and so in no
 * log. Clients that do not accept HTML get the refusal.
 */
export async function finishSso(
  signIn: Pick<SsoSignIn, 'finish' | 'knownBrowser'>,
  origin: string,
  { query, request, reply, context: { address, requestId } }: Call<Routes['finishSso']>,
): Promise<FastifyReply> {
  const known = ssoCookie(request, KNOWN);
  const returned = { query, address: new URL(request.url, origin), cookie: ssoCookie(request), known };
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  try {
    const given = await signIn.finish(returned, { address, requestId });
    const kept = { name: KNOWN, seconds: ssoBounds.knownDays * 86_400 };
    reply.header('set-cookie', setSsoCookie(origin, signIn.knownBrowser(known), kept));
    return reply.redirect(`${consolePath}#${new URLSearchParams(given)}`, 303);
  } catch (error) {
    const isAtTerminal = error instanceof TerminalRefused;
    const refusal = isAtTerminal ? error.cause : error;
    const problem = problemOf(refusal);
    if (problem === null || !request.headers.accept?.includes('text/html')) throw refusal;
    return reply.redirect(isAtTerminal ? error.url : `${consolePath}#/?sso=${problem}`, 303);
  }
}

/** Providers send logout tokens as a form. Every other operation takes JSON only. */
export function acceptLogoutForms(app: FastifyInstance): void {
  const options = { parseAs: 'string', bodyLimit: 2 * ssoBounds.token } as const;
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    options,
    async (request: FastifyRequest, body: string) => {
      if (request.routeOptions.url !== endpoints.logoutSso.path)
        throw new ApiError(Code.parameterError, 'Content-Type must be application/json');
      const token = new URLSearchParams(body).get('logout_token');
      return token === null ? {} : { logout_token: token };
    },
  );
}
