/** A real provider of OpenID Connect (oidc-provider) on a port of this machine, its people, and a browser without a screen. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** A daemon, in this process or in another one. */
interface Called {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  call(method: string, path: string, body?: unknown, options?: { readonly token?: string | null }): Promise<any>;
}

export interface Person {
  readonly name?: string;
  readonly groups: readonly string[];
  readonly claims?: object;
}

export interface SsoProvider {
  readonly issuer: string;
  /** By sub. */
  readonly people: Map<string, Person>;
  /** The private key that signs now. */
  key(): JWK;
  /** Another key signs from now on; the earlier one is gone. */
  rotateKey(): Promise<void>;
  /** The response of the token endpoint, before it is sent. */
  alter: ((answer: Record<string, unknown>) => void | Promise<void>) | null;
  /** Paths of the requests that were received. */
  readonly requested: string[];
  /** Ends the session of a person as the provider does: by a request to each client. */
  logout(sub: string, sid?: string): Promise<void>;
  /** Does not answer until `comeBack`. */
  goAway(): void;
  comeBack(): void;
  stop(): Promise<void>;
}

export const clientId = 'devmgr';
export const clientSecret = 'a secret that only the two of them have';
const roles = { ADMIN: ['keys-admins'], DEALER: ['keys-desk'], VIEWER: ['keys-readers'] };

export interface ProviderOptions {
  /** Addresses of the daemons. */
  readonly daemons: readonly string[];
  readonly withoutRefresh?: boolean;
  readonly withoutDevice?: boolean;
}

export async function startSsoProvider({
  daemons,
  withoutRefresh = false,
  withoutDevice = false,
}: ProviderOptions): Promise<SsoProvider> {
  const people = new Map<string, Person>();
  const requested: string[] = [];
  let handler: RequestListener = () => undefined;
  let isAway = false;
  const server = createServer((request, response) => {
    requested.push(request.url ?? '');
    if (isAway) return void request.socket.destroy();
    if (request.url === '/token' && provider.alter) rewrite(response, provider.alter);
    handler(request, response);
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key: JWK = {};
  let made: Provider;
  const make = async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    key = {
      ...(await exportJWK(privateKey)),
      kid: `key-${Math.random().toString(36).slice(2)}`,
      alg: 'RS256',
      use: 'sig',
    };
    made = new Provider(issuer, configuration());
    handler = made.callback();
  };
  const configuration = () => ({
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: daemons.map(url => `${url}/api/auth/sso/callback`),
        response_types: ['code'],
        grant_types: [
          'authorization_code',
          ...(withoutRefresh ? [] : ['refresh_token']),
          ...(withoutDevice ? [] : ['urn:ietf:params:oauth:grant-type:device_code']),
        ],
        backchannel_logout_uri: `${daemons[0]}/api/auth/sso/logout`,
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['one secret'] },
    scopes: ['openid', 'profile', 'groups', 'offline_access'],
    claims: { openid: ['sub', 'sid', 'auth_time', 'acr', 'amr'], profile: ['preferred_username'], groups: ['groups'] },
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: !withoutDevice },
      backchannelLogout: { enabled: true },
    },
    issueRefreshToken: async () => !withoutRefresh,
    rotateRefreshToken: true,
    // Without the agent that refuses addresses of this machine.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) => fetch(url, options),
    findAccount: (_: unknown, sub: string) => {
      const person = people.get(sub);
      return (
        person && {
          accountId: sub,
          claims: () => ({ sub, preferred_username: person.name ?? sub, groups: person.groups, ...person.claims }),
        }
      );
    },
    // No one is asked for consent.
    async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; account: { accountId: string } } }) {
      const grant = new made.Grant({ clientId: oidc.client.clientId, accountId: oidc.account.accountId });
      grant.addOIDCScope('openid profile groups offline_access');
      await grant.save();
      return grant;
    },
    renderError: async (ctx: { body: string }, out: object) => {
      ctx.body = JSON.stringify(out);
    },
  });
  const provider: SsoProvider = {
    issuer,
    people,
    requested,
    key: () => key,
    rotateKey: make,
    alter: null,
    logout: async (sub, sid) => (await made.Client.find(clientId)).backchannelLogout(sub, sid),
    goAway() {
      isAway = true;
    },
    comeBack() {
      isAway = false;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise(done => server.close(done));
    },
  };
  await make();
  return provider;
}

/** The provider signs other claims from now on, until its `alter` is set. */
export function sendClaims(provider: SsoProvider, change: object): void {
  provider.alter = async answer => {
    answer.id_token = await signed(provider, { ...decodeJwt(answer.id_token as string), ...change }, 'JWT');
  };
}

/** A logout token that names a session and not its person. */
export function logoutTokenOf(provider: SsoProvider, sid: string): Promise<string> {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const iat = Math.floor(Date.now() / 1000);
  const times = { iat, exp: iat + 120 };
  const claims = { ...times, iss: provider.issuer, aud: clientId, events, sid, jti: `logout ${sid}` };
  return signed(provider, claims, 'logout+jwt');
}

async function signed(provider: SsoProvider, claims: JWTPayload, typ: string): Promise<string> {
  const key = provider.key();
  const signer = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid!, typ });
  return signer.sign(await importJWK(key, 'RS256'));
}

function rewrite(response: ServerResponse, alter: NonNullable<SsoProvider['alter']>): void {
  const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse;
  response.end = ((chunk?: unknown) => {
    const answer = JSON.parse(`${chunk}`) as Record<string, unknown>;
    void Promise.resolve(alter(answer)).then(() => {
      const text = JSON.stringify(answer);
      response.setHeader('content-length', Buffer.byteLength(text));
      end(text);
    });
    return response;
  }) as ServerResponse['end'];
}

/** Sets single sign-on up at a daemon. */
export async function setUp(daemon: Called, provider: SsoProvider, more: object = {}): Promise<void> {
  const body = { issuer: provider.issuer, clientId, clientSecret, name: 'Example', roles, ...more };
  const { code, message } = await daemon.call('PUT', '/api/sso', body);
  if (code !== 200) throw new Error(message);
}

/** A browser: cookies by host, and the pages of the provider. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** The header for a request to this address; empty if the browser has no cookie for it. */
  cookieFor(url: string): string {
    const jar = this.#cookies.get(new URL(url).host) ?? [];
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const cookie = this.cookieFor(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const headers = { accept: 'text/html', ...init.headers, ...(cookie ? { cookie } : {}) };
    const response = await fetch(url, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Sends what is for one daemon to another, as a load balancer does. Returns where that leads. */
  async #elsewhere(url: string, { url: other }: Called): Promise<string> {
    const { host, pathname, search } = new URL(url);
    const headers = { host, cookie: this.cookieFor(url), accept: 'text/html' };
    const sent = request(other + pathname + search, { headers, agent: false });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.headers.location ?? '';
  }

  async start(daemon: string, body: object = {}): Promise<string> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const { data, message } = (await (await this.send(`${daemon}/api/auth/sso/start`, init)).json()) as {
      data: { url: string } | null;
      message: string;
    };
    if (!data) throw new Error(message);
    return data.url;
  }

  /** Signs in at the provider as `sub`, and returns the address that the provider leads back to. */
  async atProvider(url: string, sub: string): Promise<string> {
    const { origin } = new URL(url);
    let page = await this.send(url);
    for (let step = 0; step < 12; step++) {
      const location = page.headers.get('location');
      if (location) {
        const next = new URL(location, origin).href;
        if (!next.startsWith(origin)) return next;
        page = await this.send(next);
        continue;
      }
      const html = await page.text();
      if (html.includes('Sign-in Success')) return 'done';
      const action = /action="([^"]+)"/.exec(html)?.[1];
      if (!action) throw new Error(`not a page to sign in: ${html.slice(0, 200)}`);
      const form = new URLSearchParams({ ...hidden(html), login: sub, password: 'any' });
      page = await this.send(new URL(action, origin).href, { method: 'POST', body: form });
    }
    throw new Error('too many pages');
  }

  /** The whole sign-in: what `POST /api/auth/exchange` gives, or the problem in the address of the console. */
  async signIn(daemon: Called, sub: string, other: Called = daemon, body: object = {}) {
    const back = await this.atProvider(await this.start(daemon.url, body), sub);
    const location =
      other === daemon ? ((await this.send(back)).headers.get('location') ?? '') : await this.#elsewhere(back, other);
    const code = new URLSearchParams(location.split('#')[1] ?? '').get('code');
    if (!code) return { problem: /sso=(\w+)/.exec(location)?.[1] ?? location, token: '', user: null };
    const { data } = await other.call('POST', '/api/auth/exchange', { code }, { token: null });
    return {
      problem: null,
      token: data.token as string,
      user: data.user as { id: string; username: string; role: string },
    };
  }
}

const hidden = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name!,
      value!,
    ]),
  );
