/** SCIM 2.0 at /scim/v2 (RFC 7644): own media type and errors, and one route, because its paths are not those of the contract. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { bodyBounds, scimBounds, sizes } from '../../src/contract/limits.ts';
import { type LimitFunction, limitConcurrency, TimeSlice } from '../base/concurrency.ts';
import { boundBody } from '../http/connections.ts';
import { readBody } from '../http/json-body.ts';
import { refuseNullInUrl } from '../http/null-text.ts';
import { bearer, type OperationParts } from '../http/operation.ts';
import { errorResponse } from '../http/responses.ts';
import type { RefusedRequests } from '../people/refused.ts';
import type { Caller } from '../requests/context.ts';
import { RetryLater } from '../requests/limiter.ts';
import { badRequest, ScimError } from './error.ts';
import { readFilter } from './filter.ts';
import { SCIM_PATH, SCIM_TYPE } from './http-error.ts';
import { requiredObject } from './matching.ts';
import { refuse } from './patch.ts';
import type { ScimRequest, ScimWindow } from './resources.ts';
import { pageBounds, resourceTypes, schemas, serviceProviderConfig } from './schemas.ts';
import type { ScimGroups } from './scim-groups.ts';
import type { ScimUsers } from './scim-users.ts';
import { type Query, selected } from './selection.ts';

/** Names of attributes of other schemas are longer than those of the contract. */
const bounds = { values: bodyBounds.manyValues, name: 256, marksNull: true };

/** Services that carry out the requests. */
export interface ScimServices {
  readonly users: ScimUsers;
  readonly groups: ScimGroups;
  readonly refused: RefusedRequests;
}

/** Adds the routes. */
export async function scimRoutes(
  app: FastifyInstance,
  { tokens, scim }: Pick<OperationParts, 'tokens'> & { readonly scim: ScimServices },
): Promise<void> {
  const turns = new ScimTurns();
  await app.register(async scoped => {
    // The parser of application/json is that of all routes.
    const read = async (request: FastifyRequest, body: Buffer) => readBody(request, body, bounds);
    scoped.setErrorHandler(async (error, request) => {
      await listRefused(scim, error, request);
      throw error;
    });
    scoped.addContentTypeParser('application/scim+json', { parseAs: 'buffer' }, read);
    for (const url of [SCIM_PATH, `${SCIM_PATH}/*`])
      scoped.route({
        method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        url,
        bodyLimit: sizes.body,
        config: { bounds },
        onRequest: async (request, reply) => {
          const caller = permitted(await tokens.check(bearer(request), request));
          // Before the body is read: those that wait take no memory for it.
          await turns.take(caller.serviceToken!.number, reply.raw);
          request.caller = caller;
          boundBody(request, reply);
        },
        handler: async (request, reply) => {
          scoped.loopWatch.enter('scim', request.id);
          refuseNullInUrl(request.url, request);
          return answer(scim, request, reply);
        },
      });
  });
}

/** A write of an identity provider that is refused for what it contains would otherwise be seen there alone. */
async function listRefused({ users, refused }: ScimServices, error: unknown, request: FastifyRequest): Promise<void> {
  const { status, message } = error instanceof ScimError ? error : errorResponse(error);
  if (!request.caller || request.method === 'GET' || ![400, 404, 409, 412].includes(status)) return;
  const field = error instanceof ScimError ? error.field : null;
  await refused.add('scim', [{ userName: await users.nameIn(pathOf(request), request.body), field, reason: message }]);
}

/** The role of the token does not matter: what an identity provider may do follows from `may` alone. */
function permitted(caller: Caller): Caller {
  if (!caller.serviceToken?.may.includes('scim'))
    throw new ApiError(Code.noPermission, 'a service token that was created with the permission scim is required');
  return caller;
}

async function answer(scim: ScimServices, request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer> {
  const [kind = '', id, ...rest] = pathOf(request);
  const call: ScimRequest = {
    context: { caller: request.caller!, requestId: request.id, address: request.ip },
    base: `${request.protocol}://${request.host}${SCIM_PATH}`,
    body: request.body,
    ifMatch: request.headers['if-match'],
  };
  reply.header('content-type', SCIM_TYPE);
  const isSearch = request.method === 'POST' && id === '.search';
  const query = isSearch ? searchIn(request.body) : (request.query as Query);
  const name = isSearch ? `GET ${kind}` : `${request.method} ${kind}${id === undefined ? '' : '/'}`;
  const operation = rest.length > 0 ? undefined : operationsOf(scim, call, query)[name];
  if (!operation) throw unknown(kind);
  const found = await operation(id ?? '');
  if (found === null) {
    reply.code(204).removeHeader('content-type');
    return '';
  }
  return sent(found, query, request, reply);
}

/** The body of a search, as the query of a list (RFC 7644, section 3.4.3). */
function searchIn(body: unknown): Query {
  const { filter, startindex, count, attributes, excludedattributes } = requiredObject(body, refuse);
  const number = (value: unknown) => (typeof value === 'number' ? String(value) : value);
  const names = (value: unknown) => (Array.isArray(value) ? value.join(',') : value);
  return {
    filter,
    startIndex: number(startindex),
    count: number(count),
    attributes: names(attributes),
    excludedAttributes: names(excludedattributes),
  };
}

const kinds = ['Users', 'Groups', 'ServiceProviderConfig', 'ResourceTypes', 'Schemas'];
/** A token is not a person, and a search has one kind of resources (RFC 7644, sections 3.11 and 3.4.3). */
const notImplemented = ['Me', '.search'];

function unknown(kind: string): ScimError {
  if (notImplemented.includes(kind)) return new ScimError(501, null, `${kind} is not supported`);
  if (kinds.includes(kind)) return new ScimError(405, null, 'this is not supported here');
  return new ScimError(404, null, 'no such resource');
}

/** The parts of the path after the prefix, decoded. */
function pathOf({ params }: FastifyRequest): string[] {
  const path = (params as { readonly '*'?: string })['*'] ?? '';
  return path.split('/').filter((one, i, all) => one !== '' || i < all.length - 1);
}

type ScimOperation = (id: string) => Promise<object | null>;

/** By method and kind; with a slash for one resource. */
function operationsOf(
  scim: ScimServices,
  call: ScimRequest,
  query: Query,
): Readonly<Record<string, ScimOperation | undefined>> {
  const { base } = call;
  const withMembers = 'members' in selected({ members: [] }, query);
  const listed = async (read: (window: ScimWindow) => Promise<{ rows: readonly object[]; total: number }>) => {
    const window = windowOf(query);
    return listOf(await read(window), window.startIndex);
  };
  const all = (items: readonly object[]) => async () => {
    if (query.filter !== undefined) throw new ScimError(403, null, 'this list cannot be filtered');
    return listOf({ rows: items, total: items.length }, 1);
  };
  const one = (items: readonly { readonly id: string }[]) => async (id: string) => {
    const found = items.find(item => item.id === id);
    if (!found) throw new ScimError(404, null, 'no such resource');
    return found;
  };
  return {
    'GET ServiceProviderConfig': async () => serviceProviderConfig(base),
    'GET ResourceTypes': all(resourceTypes(base)),
    'GET ResourceTypes/': one(resourceTypes(base)),
    'GET Schemas': all(schemas(base)),
    'GET Schemas/': one(schemas(base)),
    'GET Users': () => listed(window => scim.users.list(window, call)),
    'POST Users': () => scim.users.create(call),
    'GET Users/': id => scim.users.show(id, call),
    'PUT Users/': id => scim.users.replace(id, call),
    'PATCH Users/': id => scim.users.patch(id, call),
    'DELETE Users/': id => scim.users.remove(id, call),
    'GET Groups': () => listed(window => scim.groups.list(window, call, withMembers)),
    'POST Groups': () => scim.groups.create(call),
    'GET Groups/': id => scim.groups.show(id, call, withMembers),
    'PUT Groups/': id => scim.groups.replace(id, call),
    'PATCH Groups/': id => scim.groups.patch(id, call),
    'DELETE Groups/': id => scim.groups.remove(id, call),
  };
}

function listOf({ rows, total }: { readonly rows: readonly object[]; readonly total: number }, startIndex: number) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: rows.length,
    Resources: rows,
  };
}

function windowOf({ filter, startIndex, count }: Query): ScimWindow {
  if (filter !== undefined && typeof filter !== 'string') throw badRequest('invalidFilter', 'filter must be sent once');
  return {
    filter: filter === undefined || filter.trim() === '' ? null : readFilter(filter),
    startIndex: Math.max(1, wholeNumber('startIndex', startIndex, 1)),
    count: Math.min(pageBounds.max, Math.max(0, wholeNumber('count', count, pageBounds.default))),
  };
}

function wholeNumber(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== 'string' || !/^-?\d{1,9}$/.test(value))
    throw badRequest('invalidValue', `${name} must be a whole number`);
  return Number(value);
}

async function sent(
  found: object,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | Buffer> {
  const resources =
    'Resources' in found ? (found.Resources as readonly object[]).map(one => selected(one, query)) : null;
  if (resources) return jsonOf({ ...found, Resources: resources });
  const { meta } = found as { readonly meta?: { readonly version?: string; readonly location: string } };
  if (meta?.version) {
    reply.header('etag', meta.version);
    if (request.method === 'GET' && request.headers['if-none-match'] === meta.version) {
      reply.code(304);
      return '';
    }
    if (request.method === 'POST') reply.code(201).header('location', meta.location);
  }
  return jsonOf(selected(found, query));
}

/** Members of a group that become JSON in one step. */
const MEMBERS_AT_ONCE = 1000;

/** JSON in UTF-8. The members of a large group are written and encoded in time slices. */
async function jsonOf(resource: object, slice = new TimeSlice()): Promise<Buffer> {
  const [name, list] = Object.entries(resource).find(([name]) => name === 'Resources' || name === 'members') ?? [];
  if (!name) return Buffer.from(JSON.stringify(resource));
  const parts: Buffer[] = [];
  const add = (part: Buffer | string) => parts.push(Buffer.from(parts.length > 0 ? ',' : ''), Buffer.from(part));
  for (const one of name === 'Resources' ? list : []) {
    add(await jsonOf(one, slice));
    if (slice.over) await slice.pass();
  }
  for (let at = 0; name === 'members' && at < list.length; at += MEMBERS_AT_ONCE) {
    add(JSON.stringify(list.slice(at, at + MEMBERS_AT_ONCE)).slice(1, -1));
    if (slice.over) await slice.pass();
  }
  const others = JSON.stringify({ ...resource, [name]: undefined }).slice(0, -1);
  const head = Buffer.from(`${others}${others === '{' ? '' : ','}"${name}":[`);
  return Buffer.concat([head, ...parts, Buffer.from(']}')]);
}

/**
 * The requests of a SCIM token that are carried out at once, and those that wait for their turn. Another daemon that shares the registry
 * has turns of its own.
 */
class ScimTurns {
  /** By number of the token; those that have requests. */
  readonly #ofTokens = new Map<number, LimitFunction>();

  /** Resolves when the request has its turn, which ends when its response is closed. Refuses with 429 if too many wait already. */
  take(token: number, response: ServerResponse): Promise<void> {
    const limit = this.#ofTokens.get(token) ?? limitConcurrency(scimBounds.atOnce);
    if (limit.activeCount + limit.pendingCount >= scimBounds.atOnce + scimBounds.waiting)
      throw new RetryLater(`${scimBounds.waiting} requests of this token wait already`, 1);
    this.#ofTokens.set(token, limit);
    return new Promise(resolve => {
      // A response that is read slowly takes memory until its end, so its turn lasts as long.
      const turn = async (): Promise<void> => {
        const closed = response.closed ? undefined : once(response, 'close').catch(() => {});
        resolve();
        await closed;
      };
      void limit(turn).then(() => {
        if (limit.activeCount + limit.pendingCount === 0) this.#ofTokens.delete(token);
      });
    });
  }
}
