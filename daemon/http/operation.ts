/**
 * Turns an operation of the contract into a Fastify route: token, limit, role and body are checked in this order, then comes the
 * handler, then the envelope. Nothing here is specific to one operation.
 */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { TObject } from 'typebox';
import type { InputFormat } from '../../src/contract/checks.ts';
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import {
  acceptsKey,
  acceptsVersion,
  type BodyOf,
  type DataOf,
  hasEntityTag,
  type ParamsOf,
  type QueryOf,
  type RouteShape,
  showsVersion,
  versionTags,
} from '../../src/contract/define.ts';
import { userIds } from '../../src/contract/ids.ts';
import { sizes } from '../../src/contract/limits.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { CallerRole, TokenPermission } from '../../src/contract/values.ts';
import { clientOf } from '../base/loopback.ts';
import { type Caller, type Context, holderOf, type KeyedRequest, refuseConfined } from '../requests/context.ts';
import { type Allowance, RateLimited, type RequestLimits } from '../requests/limiter.ts';
import type { StepUpRule } from '../requests/session.ts';
import type { TokenCheck } from '../requests/token-check.ts';
import { boundBody } from './connections.ts';
import { KEY_HEADER, type KeyedRequests } from './idempotency.ts';
import { shapeBounds } from './json-shape.ts';
import { refuseNullInUrl } from './null-text.ts';
import { hasMatch } from './ranges.ts';
import { JSON_TYPE, noSuchOperation, setRateLimitHeaders, versionTag } from './responses.ts';
import { checkQuery } from './strict-query.ts';

/** The checks of every operation. */
export interface OperationParts {
  readonly tokens: TokenCheck;
  readonly limiter: RequestLimits;
  readonly keyed: KeyedRequests;
  /** Absent where no operation needs a recent sign-in. */
  readonly stepUp?: StepUpRule;
}

/** Input of a handler: validated input, and the caller. */
export interface Call<R> {
  readonly context: Context & { keyed?: KeyedRequest | undefined; version?: number | undefined };
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, after the token check. */
    caller: Caller | null;
    /** The JSON body as it arrived, if the request has an Idempotency-Key. */
    rawBody: Buffer | null;
  }
}
/** The caller of an operation that needs no token. */
const anonymous: Caller = { role: 'LOCAL', user: null, serviceToken: null, expiresAt: 0, loginAt: 0 };

class RequestContext implements Context {
  readonly caller: Caller;
  readonly requestId: string;
  keyed: KeyedRequest | undefined;
  version: number | undefined;
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.caller = request.caller ?? anonymous;
    this.requestId = request.id;
    this.#request = request;
  }

  get address(): string {
    return this.#request.ip;
  }
}

/**
 * Binds an operation whose response is an envelope.
 * @param messageOf message of a successful response; `success` if absent
 */
export function operation<const R extends RouteShape>(
  app: FastifyInstance,
  parts: OperationParts,
  shape: R,
  handler: (call: Call<R>) => Promise<DataOf<R>>,
  messageOf?: (data: DataOf<R>) => string,
): void {
  const textOf = (data: DataOf<R>) =>
    `{"code":200,"message":${messageOf ? JSON.stringify(messageOf(data)) : '"success"'},"data":${JSON.stringify(data)}}`;
  const answerKeyed = (key: string, call: Call<R>) =>
    parts.keyed.answer({
      key,
      operation: JSON.stringify([
        shape.id,
        call.params,
        call.query,
        ...(call.context.version ? [call.context.version] : []),
      ]),
      body: call.request.rawBody,
      context: call.context,
      reply: call.reply,
      run(request) {
        call.context.keyed = request;
        return handler(call);
      },
      textOf: data => textOf(data as DataOf<R>),
    });
  const keyed = acceptsKey(shape);
  const versioned = acceptsVersion(shape);
  const isOfVersion = showsVersion(shape);
  const isDetail = hasEntityTag(shape);
  rawOperation(app, parts, shape, async call => {
    if (versioned) call.context.version = versionNamed(call.request.headers['if-match']);
    const key = keyed ? call.request.headers[KEY_HEADER] : undefined;
    if (key !== undefined) {
      const text = await answerKeyed(String(key), call);
      const { data } = isOfVersion ? JSON.parse(text) : { data: null };
      if (data) call.reply.header('etag', versionTag(data.version));
      return call.reply.header('content-type', JSON_TYPE).send(text);
    }
    const data = await handler(call);
    const text = textOf(data);
    call.reply.header('content-type', JSON_TYPE);
    if (isOfVersion) call.reply.header('etag', versionTag((data as unknown as { version: number }).version));
    else if (isDetail) call.reply.header('etag', `"${hash('sha256', text, 'base64url')}"`);
    else return text;
    return isDetail && hasCopy(call, isOfVersion) ? call.reply.code(304).send() : text;
  });
}

/**
 * Whether the client has the response already. The ETag of a device is its version: counts of uses and the account of its user can
 * differ under one version, and so can a list of events that comes with it, which is why that is always sent.
 */
function hasCopy(
  { request, reply, query }: { request: FastifyRequest; reply: FastifyReply; query: unknown },
  isOfVersion: boolean,
): boolean {
  if (isOfVersion && Object.values(query ?? {}).some(value => value !== undefined)) return false;
  return hasMatch(request.headers['if-none-match'], String(reply.getHeader('etag')));
}

/** The version in the header If-Match; undefined if it is absent. Refuses with 1001 what is not one version in quotes. */
function versionNamed(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (!versionTags.test(header)) throw inputError('If-Match', 'must be a version of the device in quotes, such as "3"');
  return Number(header.slice(1, -1));
}

/** The path of an operation as Fastify writes it. */
export const urlOf = ({ path }: Pick<RouteShape, 'path'>): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Binds an operation whose handler writes the response itself: a download, a document. */
export function rawOperation<const R extends RouteShape>(
  app: FastifyInstance,
  parts: OperationParts,
  shape: R,
  handler: (call: Call<R>) => Promise<unknown>,
): void {
  const params = reader<ParamsOf<R>>(shape.params, 'text');
  const query = reader<QueryOf<R>>(shape.query, 'text');
  const body = reader<BodyOf<R>>(shape.body, 'json');
  app.route({
    method: shape.method,
    url: urlOf(shape),
    bodyLimit: shape.bodyLimit ?? sizes.body,
    // The error handler needs it: login answers 401 to a wrong password.
    config: { operation: shape, bounds: shapeBounds(shape) },
    onRequest: gate(parts, shape),
    handler: ((request, reply) => {
      app.loopWatch.enter(shape.id, request.id);
      refuseNullInUrl(request.url, request);
      checkQuery(shape, request, reply);
      return handler({
        context: new RequestContext(request),
        params: params(request.params),
        query: query(request.query),
        body: body(request.body ?? {}),
        request,
        reply,
      });
    }) as RouteHandlerMethod,
  });
}

function reader<T>(schema: TObject | undefined, format: InputFormat): (input: unknown) => T {
  if (!schema) return () => undefined as T;
  const read = compileReader(schema, format);
  return input => {
    const result = read(input);
    if (!result.ok) throw new ApiError(Code.parameterError, result.message, null, result.details);
    return result.value as T;
  };
}

/** Everything that is checked before the body is read. */
function gate({ tokens, limiter, stepUp }: OperationParts, shape: RouteShape) {
  if (shape.stepUp && !stepUp) throw new Error(`${shape.id} needs the rule of recent sign-ins`);
  const allowed = typeof shape.access === 'string' ? null : new Set<CallerRole>(shape.access);
  const pass = (request: FastifyRequest, reply: FastifyReply, allowance: Allowance | null): void => {
    if (allowance) {
      setRateLimitHeaders(reply, allowance);
      if (!allowance.allowed) throw new RateLimited(allowance);
    }
    const { caller } = request;
    const isFree = shape.anyTokenRole && caller?.serviceToken;
    if (caller && !allowed!.has(caller.role) && !isFree && !isOwn(shape, request, caller))
      throw new ApiError(Code.noPermission, `the role ${caller.role} is not allowed to do this`);
    if (caller?.serviceToken && shape.peopleOnly)
      throw new ApiError(Code.noPermission, 'a service token is not allowed to do this: log in as a user');
    if (caller?.serviceToken && shape.tokenMay && !caller.serviceToken.may.includes(shape.tokenMay))
      throw permissionMissing(shape.tokenMay);
    if (caller && !shape.tokenMay && !shape.anyTokenRole) refuseConfined(caller);
    if (caller?.session?.mustRegisterKey && !shape.withoutKey) throw keyMissing();
    if (caller && shape.stepUp) stepUp!.check(caller);
  };
  // A promise only if the window is shared with other nodes and has to be asked for.
  const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller | null): Promise<void> | undefined => {
    request.caller = caller;
    const counted = shape.limit && limiter.count(shape.limit, caller ? holderOf(caller) : clientOf(request.ip));
    if (counted instanceof Promise) return counted.then(allowance => pass(request, reply, allowance));
    pass(request, reply, counted ?? null);
    return undefined;
  };
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> | undefined => {
    if (shape.body) boundBody(request, reply);
    if (shape.params) refuseEmptyParams(request.params as Record<string, string>);
    const token = allowed ? bearer(request) : null;
    const caller = token === null ? null : tokens.checkNow(token, request);
    // A token that was checked before continues in the same turn: measured, 1 µs per request.
    if (token !== null && caller === null)
      return tokens.check(token, request).then(found => admit(request, reply, found));
    const waiting = admit(request, reply, caller);
    if (!waiting) done();
    return waiting;
  };
}

/** The refusal of a service token that was created without a permission. */
const permissionMissing = (permission: TokenPermission): ApiError =>
  new ApiError(
    Code.noPermission,
    `the service token is not allowed to do this: it was created without ${permission} in its permissions (may)`,
  );

/** The refusal of a session that may only register a security key. */
export const keyMissing = (): ApiError =>
  new ApiError(Code.noPermission, 'this account must sign in with a security key: register one first', {
    registerKey: true,
  });

/** `/api/devices/` does not name a device. */
function refuseEmptyParams(params: Record<string, string>): void {
  for (const name in params) if (params[name] === '') throw noSuchOperation();
}

/** The token in the header Authorization. Refuses with 1004 if there is none. */
export function bearer(request: { readonly headers: { readonly authorization?: string | undefined } }): string {
  const header = request.headers.authorization;
  const token = header === undefined ? null : /^Bearer +(\S+) *$/i.exec(header);
  if (!token) throw new ApiError(Code.tokenInvalid, 'a token is required: Authorization: Bearer …');
  return token[1]!;
}

function isOwn(shape: RouteShape, request: FastifyRequest, caller: Caller): boolean {
  if (!shape.ownUser || !caller.user || caller.role === 'HOLDER') return false;
  return (request.params as Record<string, string>)[shape.ownUser] === userIds.format(caller.user.number);
}

/** Aborted when the client closes the connection before it has the response. */
export function untilClosed(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  return closed.signal;
}
