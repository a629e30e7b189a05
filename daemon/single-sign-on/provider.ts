/** The only file that knows the library for OpenID Connect. It is loaded by the first operation that needs it. */
import { randomBytes } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import * as client from 'openid-client';
import { isLoopbackName } from '../../src/contract/local.ts';
import { textFault } from '../../src/contract/text.ts';
import { ClientRefused, ProviderAway, SessionOver, SignInDenied, TokenRefused } from '../base/errors.ts';
import { type ProviderFetch, providerFetch } from '../base/fetch.ts';
import {
  groupsIn,
  type IdToken,
  judgeIdToken,
  judgeLogoutToken,
  type LogoutToken,
  TOLERANCE,
  type TokenRules,
} from './id-token.ts';
import { KeptRead } from './kept-read.ts';
import { beginning, ending, refusing, translated, withClient } from './provider-failures.ts';
import { keysAt, providerKeys } from './provider-keys.ts';
import type { PollWaits } from './provider-requests.ts';
import { DEVICE_GRANT, type SsoConfig } from './records.ts';

const usualScopes = ['profile', 'groups', 'offline_access'] as const;

/** The tokens of a session at the provider. */
export interface ProviderTokens {
  readonly refresh: string | null;
  readonly access: string;
  /** Milliseconds since 1970. */
  readonly accessEndsAt: number;
}

/** A person whom the provider has signed in. */
export interface SignedIn extends Omit<IdToken, 'groups'> {
  readonly groups: readonly string[];
  readonly tokens: ProviderTokens;
}

/** Binding of a browser sign-in. */
interface BrowserCheck {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The settings that a provider needs. `secret`: of the client. */
type ProviderConfig = Pick<SsoConfig, 'issuer' | 'clientId' | 'scopes' | 'groupsClaim'> & {
  readonly secret: string;
};

interface DiscoveredProvider {
  readonly library: client.Configuration;
  /** With a secret that the provider cannot know. */
  readonly stranger: client.Configuration;
  readonly keys: JWTVerifyGetKey;
  readonly scopes: readonly string[];
}

type TokenAnswer = Awaited<ReturnType<typeof client.refreshTokenGrant>>;

/** A provider. All methods reject with `ProviderAway` if it does not respond, and with `TokenRefused` if its response is not valid. */
export class Provider {
  readonly config: ProviderConfig;
  readonly #fetch: ProviderFetch;
  readonly #now: () => number;
  readonly #discovered: KeptRead<DiscoveredProvider>;
  /** Why the provider has refused the client last; null if it has accepted it since. */
  #refusal: ClientRefused | null = null;
  /** Whether the provider looks at the client before the code; null until that was tried. */
  #looksAtClientFirst: boolean | null = null;

  /** `allowed`: see `providerFetch`. `now`: milliseconds since 1970. */
  constructor(
    config: ProviderConfig,
    { allowed, now }: { readonly allowed: readonly string[]; readonly now: () => number },
  ) {
    this.config = config;
    this.#fetch = providerFetch(config.issuer, allowed, now);
    this.#now = now;
    this.#discovered = new KeptRead(() => this.#read(), now);
  }

  /** Why the provider has refused the client at the last request; null if it has not. */
  get refusal(): ClientRefused | null {
    return this.#refusal;
  }

  /** The address at which a browser signs in. `again`: the provider must ask for the credentials even if it has a session. */
  async authorizationUrl(
    redirectUri: string,
    { state, nonce, verifier }: BrowserCheck,
    again: boolean,
  ): Promise<string> {
    const { library, scopes } = await beginning(() => this.#discovered.get());
    const parameters = {
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      // With it, the provider reports when the person has signed in there.
      max_age: again ? '0' : `${30 * 86_400}`,
      ...(again ? { prompt: 'login' } : {}),
    };
    return beginning(async () => client.buildAuthorizationUrl(library, parameters).href);
  }

  /** `address`: the one that the browser was redirected to. */
  async signIn(address: URL, { state, nonce, verifier }: BrowserCheck): Promise<SignedIn> {
    const { library } = await this.#discovered.get();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    const answer = await refusing(() => client.authorizationCodeGrant(library, address, checks));
    return this.#signedIn(answer, nonce, null);
  }

  /** Rejects with `SignInDenied` if the provider has no such grant. */
  async startDevice() {
    const { library, scopes } = await beginning(() => this.#discovered.get());
    if (!library.serverMetadata().device_authorization_endpoint)
      throw new SignInDenied('the provider does not offer sign-in by device code');
    const answer = await beginning(() => client.initiateDeviceAuthorization(library, { scope: scopes.join(' ') }));
    for (const [name, text] of Object.entries(answer)) {
      const fault = typeof text === 'string' ? textFault(text, 'line') : null;
      if (fault !== null) throw new ProviderAway(`${name} of the provider ${fault}`);
    }
    return answer;
  }

  /** The person, or that the person has not signed in. */
  async pollDevice(deviceCode: string): Promise<SignedIn | PollWaits> {
    const { library } = await this.#discovered.get();
    try {
      const answer = await client.genericGrantRequest(library, DEVICE_GRANT, { device_code: deviceCode });
      return await this.#signedIn(answer, null, null);
    } catch (error) {
      const code = error instanceof client.ResponseBodyError ? error.error : null;
      if (code === 'authorization_pending' || code === 'slow_down')
        return { waits: true, slower: code === 'slow_down' };
      throw translated(error);
    }
  }

  /** Refreshes the session and reads the person. Rejects with `SessionOver` if the session has ended at the provider. */
  async renew(tokens: ProviderTokens, sub: string): Promise<SignedIn> {
    const { library } = await this.#discovered.get();
    if (tokens.refresh !== null) {
      const answer = await ending(() => client.refreshTokenGrant(library, tokens.refresh!));
      return this.#signedIn(answer, null, sub, tokens);
    }
    // Without a refresh token, the session can be checked only while the access token is valid.
    if (tokens.accessEndsAt <= this.#now())
      throw new SessionOver('the provider gave no token to renew the session with');
    const claims = await ending(() => client.fetchUserInfo(library, tokens.access, sub));
    const { groups, isOverage } = groupsIn(claims, this.config.groupsClaim);
    return { ...nothingSaid, sub, groups: groups ?? [], isOverage, tokens };
  }

  async logoutToken(text: string): Promise<LogoutToken> {
    return judgeLogoutToken(text, this.#rules(await this.#discovered.get()));
  }

  /**
   * Whether the provider accepts the client, without a sign-in: it gets a code that it has not issued. Some providers look at the
   * code first, as the answer to another secret shows. What they have answered last then counts; null if they have answered
   * nothing. Rejects with `ClientRefused`.
   */
  async checkClient(redirectUri: string): Promise<'accepted' | null> {
    const { library, stranger } = await this.#discovered.get();
    const ask = async (as: client.Configuration) => {
      const code = { code: randomBytes(24).toString('base64url'), redirect_uri: redirectUri };
      const parameters = { ...code, code_verifier: client.randomPKCECodeVerifier() };
      // The code is always refused.
      await refusing(() => client.genericGrantRequest(as, 'authorization_code', parameters)).catch(error => {
        if (!(error instanceof SignInDenied)) throw error;
      });
    };
    const before = this.#refusal;
    await ask(library);
    this.#looksAtClientFirst ??= await ask(stranger).then(
      () => false,
      error => error instanceof ClientRefused,
    );
    if (this.#looksAtClientFirst) return 'accepted';
    if (before) throw before;
    return null;
  }

  /** Present metadata of the provider. */
  async inspect() {
    const { library, scopes } = await this.#discovered.read();
    const metadata = library.serverMetadata();
    const { keys, date } = await keysAt(metadata.jwks_uri!, this.#fetch);
    const time = Date.parse(date ?? '');
    const clockOff = Number.isNaN(time) ? null : Math.round((this.#now() - time) / 1000);
    return { metadata, scopes, keys: keys.length, clockOff };
  }

  /** Verifies the response of the token endpoint. `sub`: the expected person; null accepts any. */
  async #signedIn(
    answer: TokenAnswer,
    nonce: string | null,
    sub: string | null,
    before?: ProviderTokens,
  ): Promise<SignedIn> {
    const found = await this.#discovered.get();
    const { groupsClaim } = this.config;
    const { access_token: access, id_token: idToken, refresh_token: refresh, expires_in: seconds = 300 } = answer;
    if (idToken === undefined && before === undefined) throw new TokenRefused('no ID token');
    const said =
      idToken === undefined
        ? null
        : await judgeIdToken(idToken, this.#rules(found), { nonce, accessToken: access, groupsClaim });
    const known = said ?? { ...nothingSaid, sub: sub! };
    if (sub !== null && known.sub !== sub) throw new TokenRefused('another person');
    const groups = known.groups ?? (known.isOverage ? [] : await this.#groupsOf(found, access, known.sub));
    const tokens = { refresh: refresh ?? before?.refresh ?? null, access, accessEndsAt: this.#now() + seconds * 1000 };
    return { ...known, groups, tokens };
  }

  /** Providers may keep the groups out of the token. */
  async #groupsOf({ library }: DiscoveredProvider, access: string, sub: string): Promise<readonly string[]> {
    if (!library.serverMetadata().userinfo_endpoint) return [];
    const claims = await refusing(() => client.fetchUserInfo(library, access, sub));
    return groupsIn(claims, this.config.groupsClaim).groups ?? [];
  }

  #rules({ library, keys }: DiscoveredProvider): TokenRules {
    const { issuer, id_token_signing_alg_values_supported: algorithms } = library.serverMetadata();
    return { issuer, clientId: this.config.clientId, keys, algorithms, now: this.#now() };
  }

  async #read(): Promise<DiscoveredProvider> {
    const { issuer, clientId, secret } = this.config;
    const isPlain = new URL(issuer).protocol === 'http:' && isLoopbackName(new URL(issuer).hostname);
    const first = await refusing(() =>
      client.discovery(new URL(issuer), clientId, undefined, client.None(), {
        [client.customFetch]: this.#fetch,
        ...(isPlain ? { execute: [client.allowInsecureRequests] } : {}),
      }),
    );
    const metadata = { ...first.serverMetadata() } as client.ServerMetadata;
    if (metadata.issuer !== issuer && metadata.issuer !== `${issuer}/`)
      throw new TokenRefused('the provider names another issuer');
    const isWrong = lists.some(name => metadata[name] !== undefined && !Array.isArray(metadata[name]));
    if (isWrong) throw new TokenRefused('the provider does not describe itself as the standard requires');
    if (!metadata.jwks_uri) throw new TokenRefused('the provider names no keys');
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const proof = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost;
    const clientWith = (text: string, answered: (refused: ClientRefused | null) => void) => {
      const made = new client.Configuration(metadata, clientId, { [client.clockTolerance]: TOLERANCE }, proof(text));
      made[client.customFetch] = withClient(this.#fetch, answered);
      if (isPlain) client.allowInsecureRequests(made);
      return made;
    };
    const library = clientWith(secret, refused => {
      this.#refusal = refused;
    });
    const stranger = clientWith(randomBytes(24).toString('base64url'), () => {});
    const keys = providerKeys(metadata.jwks_uri, this.#fetch, this.#now);
    return { library, stranger, keys, scopes: scopesOf(this.config.scopes, metadata) };
  }
}

/** Members of the metadata that are looked into. The library checks the addresses. */
const lists = [
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
  'scopes_supported',
  'id_token_signing_alg_values_supported',
] as const;

const nothingSaid = {
  sid: null,
  name: null,
  acr: null,
  amr: [],
  authTime: null,
  groups: null,
  isOverage: false,
} as const;

function scopesOf(
  chosen: readonly string[] | null,
  { scopes_supported: offered }: client.ServerMetadata,
): readonly string[] {
  if (chosen) return [...new Set(['openid', ...chosen])];
  return ['openid', ...usualScopes.filter(scope => offered?.includes(scope) ?? scope !== 'groups')];
}
