/**
 * Stand-ins for providers at which keys are issued. They speak the published shapes of Microsoft Graph, of Okta and of a WebAuthn
 * server with three addresses, and check registrations with an independent library. None of them is a real tenant: none was
 * available.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server';
import { readCbor } from '../../drivers/protocols/cbor.ts';
import { answering } from './http-servers.ts';
import { IssuableAuthenticator } from './issuable-authenticator.ts';
import { authenticatorRoot } from './test-authenticator.ts';

/** A credential that a stand-in accepts. */
export interface Accepted {
  readonly remoteId: string;
  readonly credentialId: string;
  readonly person: string;
  readonly label: string;
}

/**
 * The fate of the next requests of a kind. `hollow`: 200 with an error, not carried out. `lost`: carried out, but the
 * connection ends before the answer; `late`: the same, and carried out by `settle` only; `unlisted`: as `lost`, and lists lack it
 * until `settle`. `absent`: 404, not carried out; `moved`: carried out, and answered by a redirect; `expired`: 401, not carried
 * out.
 */
export type Trouble =
  | 'lost'
  | 'late'
  | 'unlisted'
  | 'away'
  | 'refused'
  | 'busy'
  | 'absent'
  | 'moved'
  | 'expired'
  | 'hollow';

export type Kind = 'options' | 'finish' | 'list' | 'remove';

/** The part that the three stand-ins share. */
export class ProviderState {
  readonly accepted: Accepted[] = [];
  /** Answers of keys, by credential id. */
  readonly responses = new Map<string, { readonly clientDataJSON: string; readonly attestationObject: string }>();
  /** Kinds of requests in the order in which they came. */
  readonly requests: Kind[] = [];
  /** `Retry-After` of one that is busy. */
  retryAfter = '1';
  userVerification: 'required' | 'discouraged' = 'required';
  /** How Graph divides lists: objects of a page, and the address of the next one (null: that of Graph). */
  readonly pages: { size: number; next: string | null } = { size: 100, next: null };
  /** All its users, as lists of users have them. `null`: it may not read them. */
  users: { readonly id: string; readonly userName: string; readonly isActive: boolean }[] | null = [];
  /** Called for each request, before it is carried out and before it is answered. */
  hook: (kind: Kind, when: 'before' | 'after') => Promise<void> = async () => {};
  /** Called when a challenge is used up, before the credential is accepted. */
  verifying: () => Promise<unknown> = async () => {};
  /** Persons whose credentials it refuses to remove. */
  readonly kept = new Set<string>();
  /** Persons by challenge. */
  readonly #challenges = new Map<string, string>();
  readonly #unlisted = new Set<string>();
  #late: (() => Promise<unknown>)[] = [];
  readonly #tenant = randomUUID();
  readonly #names = new Map<string, string>();
  readonly #trouble = new Map<Kind, Trouble[]>();
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];

  readonly origin: string;
  readonly rpId: string;
  constructor(origin: string, rpId: string) {
    this.origin = origin;
    this.rpId = rpId;
  }

  trouble(kind: Kind, ...what: Trouble[]): void {
    this.#trouble.set(kind, what);
  }

  take(kind: Kind): Trouble | null {
    this.requests.push(kind);
    return this.#trouble.get(kind)?.shift() ?? null;
  }

  /** The accepted credential of a person, as a list has it. */
  listed(person: string): Accepted[] {
    return this.accepted.filter(one => one.person === person && !this.#unlisted.has(one.remoteId));
  }

  /** The time for an answer to the options is over. */
  expireChallenges(): void {
    this.#challenges.clear();
  }

  hideLast(): void {
    this.#unlisted.add(this.accepted.at(-1)!.remoteId);
  }

  postpone(carryOut: () => Promise<unknown>): void {
    this.#late.push(carryOut);
  }

  /** Carries out what is late; lists have everything. */
  async settle(): Promise<void> {
    this.#unlisted.clear();
    const late = this.#late;
    this.#late = [];
    for (const carryOut of late) await carryOut().catch(() => undefined);
  }

  /** Resolves when nothing is accepted any more. */
  async emptied(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#waiting.push({ holds: () => this.accepted.length === 0, resolve });
      this.changed();
    });
  }

  changed(): void {
    this.#waiting = this.#waiting.filter(({ holds, resolve }) => !holds() || resolve());
  }

  /** The provider's own id of a person, which a new name does not change. */
  accountOf(userName: string): string {
    const known = [...this.#names].find(([, name]) => name === userName);
    if (known) return known[0];
    const account = randomUUID();
    this.#names.set(account, userName);
    return account;
  }

  /** A user, who is found by name and by id. `as`: what the provider calls the name. */
  userNamed(nameOrId: string, as: string): Record<string, string> {
    const id = this.#names.has(nameOrId) ? nameOrId : this.accountOf(nameOrId);
    return { id, [as]: this.nameOf(id) };
  }

  /** The name of an account, or the name itself. */
  nameOf(account: string): string {
    return this.#names.get(account) ?? account;
  }

  rename(from: string, to: string): void {
    this.#names.set(this.accountOf(from), to);
    for (const [at, one] of this.accepted.entries())
      if (one.person === from) this.accepted[at] = { ...one, person: to };
  }

  async options(person: string): Promise<object> {
    const options = await generateRegistrationOptions({
      rpName: 'Stand-in',
      rpID: this.rpId,
      userName: person,
      // Of this provider alone: a key replaces the credential of a user id that it already has at a site.
      userID: new Uint8Array(createHash('sha256').update(`${this.#tenant} ${person}`).digest()),
      attestationType: 'direct',
      authenticatorSelection: { residentKey: 'required', userVerification: this.userVerification },
      excludeCredentials: this.accepted.filter(one => one.person === person).map(one => ({ id: one.credentialId })),
      supportedAlgorithmIDs: [-7],
    });
    this.#challenges.set(options.challenge, person);
    return options;
  }

  async finish(person: string, label: string, response: Parameters<typeof verifyRegistrationResponse>[0]['response']) {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge => this.#challenges.get(challenge) === person && this.#challenges.delete(challenge),
      expectedOrigin: this.origin,
      expectedRPID: this.rpId,
      requireUserVerification: this.userVerification === 'required',
    });
    await this.verifying();
    if (!verified) throw new Error('not verified');
    const credentialId = registrationInfo.credential.id;
    const accepted = { remoteId: randomUUID(), credentialId, person, label };
    this.accepted.push(accepted);
    this.responses.set(credentialId, response.response);
    return accepted;
  }

  remove(isIt: (one: Accepted) => boolean): boolean {
    const at = this.accepted.findIndex(isIt);
    if (this.kept.has(this.accepted[at]?.person ?? '')) throw new Error('not allowed');
    if (at >= 0) this.accepted.splice(at, 1);
    this.changed();
    return at >= 0;
  }
}

interface Handled {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
type Handler = (
  method: string,
  path: string,
  body: string,
  request: IncomingMessage,
) => Promise<readonly [Kind | null, () => Promise<Handled>]>;

const serving = (state: ProviderState, handler: Handler): RequestListener => {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = decodeURIComponent(new URL(request.url!, 'http://stand.in').pathname);
    const [kind, carryOut] = await handler(request.method!, path, Buffer.concat(chunks).toString(), request);
    const trouble = kind === null ? null : state.take(kind);
    if (trouble === 'away') return void request.socket.destroy();
    if (trouble === 'busy') return void response.writeHead(429, { 'retry-after': state.retryAfter }).end();
    if (trouble === 'absent' || trouble === 'expired')
      return void respond(response, trouble === 'absent' ? missing : { status: 401 });
    if (trouble === 'hollow')
      return void respond(response, { status: 200, body: { error: { message: 'try again later' } } });
    if (trouble === 'refused')
      return void respond(response, { status: 400, body: { error: { message: 'not allowed' } } });
    if (trouble === 'late') {
      state.postpone(carryOut);
      return void request.socket.destroy();
    }
    if (kind !== null) await state.hook(kind, 'before');
    const handled = await carryOut().catch(error => ({ status: 400, body: { error: { message: String(error) } } }));
    if (kind !== null) await state.hook(kind, 'after');
    if (trouble === 'unlisted') state.hideLast();
    if (trouble === 'lost' || trouble === 'unlisted') return void request.socket.destroy();
    if (trouble === 'moved') return void response.writeHead(303, { location: '/done' }).end();
    respond(response, handled);
  };
  return (request, response) => void answer(request, response);
};

function respond(response: ServerResponse, { status, headers, body }: Handled): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(body === undefined ? '' : JSON.stringify(body));
}

const denied: Handled = { status: 403, body: { error: { message: 'Insufficient privileges' } } };

/** A page of a list of users, and the address of the next one. */
function userPage(state: ProviderState, { url = '/', headers }: IncomingMessage, users: readonly object[]) {
  const { searchParams, pathname } = new URL(url, 'http://stand.in');
  const from = Number(searchParams.get('$skiptoken') ?? 0);
  const end = from + state.pages.size;
  const next = state.pages.next ?? `http://${headers.host}${pathname}?$skiptoken=${end}`;
  return { part: users.slice(from, end), next: state.pages.next !== null || end < users.length ? next : null };
}

const missing: Handled = { status: 404, body: { error: { message: 'not found' } } };

/** Microsoft Graph, and the token endpoint of Entra ID. */
export async function startEntra() {
  const state = new ProviderState('https://login.microsoft.com', 'login.microsoft.com');
  const token = randomBytes(16).toString('hex');
  const handler: Handler = async (method, path, body, request) => {
    if (path === '/tenant-1/oauth2/v2.0/token') {
      const form = new URLSearchParams(body);
      const right = form.get('client_id') === 'client-1' && form.get('client_secret') === 'entra-secret';
      const refusal = { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' };
      return [
        null,
        async () =>
          right ? { status: 200, body: { access_token: token, expires_in: 3599 } } : { status: 401, body: refusal },
      ];
    }
    if (request.headers.authorization !== `Bearer ${token}`) return [null, async () => ({ status: 401 })];
    if (path === '/v1.0/users') {
      const users = (state.users ?? []).map(({ id, userName, isActive }) => {
        return { id, userPrincipalName: userName, accountEnabled: isActive };
      });
      const { part, next } = userPage(state, request, users);
      const body = { value: part, ...(next === null ? {} : { '@odata.nextLink': next }) };
      return [null, async () => (state.users === null ? denied : { status: 200, body })];
    }
    const [, name] = /^\/v1\.0\/users\/([^/]+)$/.exec(path) ?? [];
    if (name !== undefined)
      return [null, async () => ({ status: 200, body: state.userNamed(name, 'userPrincipalName') })];
    const [, account, rest = ''] = /^\/v1\.0\/users\/([^/]+)\/authentication\/fido2Methods(.*)$/.exec(path) ?? [];
    if (account === undefined) return [null, async () => missing];
    const person = state.nameOf(account);
    const shape = (one: Accepted) => ({ id: one.remoteId, displayName: one.label, aaGuid: '', model: 'Test' });
    if (rest.startsWith('/creationOptions(challengeTimeoutInMinutes='))
      return [
        'options',
        async () => ({
          status: 200,
          body: {
            '@odata.context':
              'https://graph.microsoft.com/v1.0/$metadata#microsoft.graph.webauthnCredentialCreationOptions',
            challengeTimeoutDateTime: new Date(Date.now() + 600_000).toISOString(),
            publicKey: {
              '@odata.type': '#microsoft.graph.webauthnPublicKeyCredentialCreationOptions',
              ...(await state.options(person)),
            },
          },
        }),
      ];
    if (method === 'GET')
      return [
        'list',
        async () => {
          const { url = '/', headers } = request;
          const { size, next } = state.pages;
          const from = Number(new URL(url, 'http://stand.in').searchParams.get('$skiptoken') ?? 0);
          const all = state.listed(person).map(shape);
          const link = next ?? `http://${headers.host}${url.split('?')[0]}?$skiptoken=${from + size}`;
          const more = next !== null || from + size < all.length ? { '@odata.nextLink': link } : {};
          return { status: 200, body: { value: all.slice(from, from + size), ...more } };
        },
      ];
    if (method === 'DELETE')
      return ['remove', async () => (state.remove(one => `/${one.remoteId}` === rest) ? { status: 204 } : missing)];
    const { displayName, publicKeyCredential } = JSON.parse(body);
    const { id, response } = publicKeyCredential;
    const attested = { id, rawId: id, type: 'public-key' as const, response, clientExtensionResults: {} };
    return ['finish', async () => ({ status: 201, body: shape(await state.finish(person, displayName, attested)) })];
  };
  const { url, connections } = await answering(serving(state, handler));
  const settings = {
    type: 'entra',
    tenant: 'tenant-1',
    clientId: 'client-1',
    secret: 'entra-secret',
    address: url,
    loginAddress: url,
  };
  return { state, settings, connections };
}

/** The Factors API of Okta. */
export async function startOkta() {
  const state = new ProviderState('', 'localhost');
  const begun = new Map<string, string>();
  const handler: Handler = async (method, path, body, request) => {
    if (request.headers.authorization !== 'SSWS okta-secret')
      return [
        null,
        async () => ({ status: 401, body: { errorCode: 'E0000011', errorSummary: 'Invalid token provided' } }),
      ];
    if (path === '/api/v1/users') {
      // Lists lack users who are deprovisioned.
      const users = (state.users ?? []).map(({ id, userName, isActive }) => {
        return { id, status: isActive ? 'ACTIVE' : 'SUSPENDED', profile: { login: userName } };
      });
      const { part, next } = userPage(state, request, users);
      const self = `<http://${request.headers.host}${request.url}>; rel="self"`;
      const headers = { link: next === null ? self : `${self}, <${next}>; rel="next"` };
      return [null, async () => (state.users === null ? denied : { status: 200, headers, body: part })];
    }
    const [, name] = /^\/api\/v1\/users\/([^/]+)$/.exec(path) ?? [];
    if (name !== undefined) {
      const { id, ...profile } = state.userNamed(name === 'me' ? 'token.owner' : name, 'login');
      return [null, async () => ({ status: 200, body: { id, profile } })];
    }
    const [, account, rest = ''] = /^\/api\/v1\/users\/([^/]+)\/factors(.*)$/.exec(path) ?? [];
    if (account === undefined) return [null, async () => missing];
    const person = state.nameOf(account);
    const shape = (one: Accepted) => ({
      id: one.remoteId,
      factorType: 'webauthn',
      provider: 'FIDO',
      status: 'ACTIVE',
      profile: { credentialId: one.credentialId, authenticatorName: 'Test' },
    });
    if (method === 'GET') return ['list', async () => ({ status: 200, body: state.listed(person).map(shape) })];
    if (method === 'DELETE')
      return ['remove', async () => (state.remove(one => `/${one.remoteId}` === rest) ? { status: 204 } : missing)];
    if (rest === '')
      return [
        'options',
        async () => {
          const id = `fwf${randomBytes(6).toString('hex')}`;
          begun.set(id, person);
          const { rp: _, ...activation } = (await state.options(person)) as { rp: unknown };
          return {
            status: 200,
            body: { id, factorType: 'webauthn', status: 'PENDING_ACTIVATION', _embedded: { activation } },
          };
        },
      ];
    const factor = rest.split('/')[1]!;
    const { attestation, clientData } = JSON.parse(body);
    return [
      'finish',
      async () => {
        if (begun.get(factor) !== person) return missing;
        const id = idIn(attestation);
        const response = { attestationObject: attestation, clientDataJSON: clientData };
        const attested = { id, rawId: id, type: 'public-key' as const, response, clientExtensionResults: {} };
        return { status: 200, body: shape(await state.finish(person, '', attested)) };
      },
    ];
  };
  const { url } = await answering(serving(state, handler), 'localhost');
  Object.assign(state, { origin: url.replace('127.0.0.1', 'localhost') });
  return { state, settings: { type: 'okta', address: state.origin, secret: 'okta-secret' } };
}

/** A server with three addresses. */
export async function startWebauthnServer() {
  const state = new ProviderState('https://accounts.example', 'accounts.example');
  const handler: Handler = async (_method, path, text, request) => {
    if (request.headers.authorization !== 'Bearer server-secret') return [null, async () => ({ status: 403 })];
    const { userName, name, response, credentialId } = JSON.parse(text);
    if (path === '/options')
      return [
        'options',
        async () => ({ status: 200, body: { origin: state.origin, options: await state.options(userName ?? 'test') } }),
      ];
    if (path === '/finish')
      return [
        'finish',
        async () => {
          if (!state.accepted.some(one => one.credentialId === response.id))
            await state.finish(userName, name, { ...response, clientExtensionResults: {} });
          // Any content is an answer.
          return { status: 200, body: 'registered' };
        },
      ];
    const removed = { status: 200, body: 'removed' };
    return ['remove', async () => (state.remove(one => one.credentialId === credentialId) ? removed : missing)];
  };
  const { url } = await answering(serving(state, handler));
  const addresses = { address: `${url}/options`, finishAddress: `${url}/finish`, removeAddress: `${url}/remove` };
  return { state, settings: { type: 'webauthn', secret: 'server-secret', ...addresses } };
}

function idIn(attestation: string): string {
  const data = (readCbor(Buffer.from(attestation, 'base64url')) as ReadonlyMap<string, unknown>).get(
    'authData',
  ) as Uint8Array;
  const length = data[53]! * 256 + data[54]!;
  return Buffer.from(data.subarray(55, 55 + length)).toString('base64url');
}

const authenticators = new WeakMap<object, IssuableAuthenticator>();

/** How an answer differs from that of a browser. */
interface AnswerChanges {
  readonly type?: unknown;
  /** False: the key has not verified its person. */
  readonly verified?: boolean;
}

/** The answer of a key to creation options, as a browser would return it. `key`: answers of one object come from one key. */
export function answerOf(
  { origin, options }: { origin: string; options: unknown },
  key: object = {},
  { type = 'webauthn.create', verified = true }: AnswerChanges = {},
) {
  const authenticator =
    authenticators.get(key) ??
    new IssuableAuthenticator({ root: authenticatorRoot(), aaguid: 'ee882879-721c-4913-9775-3dfcce97072a' });
  authenticators.set(key, authenticator);
  const { challenge, rp } = options as { challenge: string; rp: { id: string } };
  const clientData = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const object = authenticator.attestationObject(rp.id, createHash('sha256').update(clientData).digest(), verified);
  const attestationObject = object.toString('base64url');
  const id = idIn(attestationObject);
  return {
    id,
    rawId: id,
    type: 'public-key',
    response: { clientDataJSON: clientData.toString('base64url'), attestationObject },
  };
}
