/**
 * Turns an operation of the contract into a Fastify route: token, limit, role, body, in this order, then the handler, then
 * the envelope. Nothing about an operation is stated here.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { TObject } from 'typebox';
import { ApiError } from '../../src/contract/codes.ts';
import type { BodyOf, CallerRole, DataOf, ParamsOf, QueryOf, RouteShape } from '../../src/contract/define.ts';
import { userIds } from '../../src/contract/ids.ts';
import { sizes } from '../../src/contract/limits.ts';
import { compileReader, type InputFormat } from '../../src/contract/validate.ts';
import type { Caller, Context } from '../services/context.ts';
import type { Limiter } from '../services/limiter.ts';
import { RateLimited } from '../services/limiter.ts';
import type { Tokens } from '../services/tokens.ts';
import { JSON_TYPE } from './answers.ts';
import { boundBody } from './connections.ts';
import { tellAllowance } from './limits.ts';

export interface OperationParts {
  readonly tokens: Tokens;
  readonly limiter: Limiter;
}

/** What a handler is given. */
export interface Call<R> {
  readonly context: Context;
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** An answer with a message of its own in place of `success`. */
export class Worded<T> {
  readonly message: string;
  readonly data: T;
  constructor(message: string, data: T) {
    this.message = message;
    this.data = data;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, once the token has been checked. */
    caller: Caller | null;
  }
}
const nobody: Caller = { role: 'LOCAL', user: null, expiresAt: 0 };

class RequestContext implements Context {
  readonly caller: Caller;
  readonly requestId: string;
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.caller = request.caller ?? nobody;
    this.requestId = request.id;
    this.#request = request;
  }

  get address(): string {
    return this.#request.ip;
  }
}

/** An operation whose answer is the envelope. */
export function operation<const R extends RouteShape>(
  app: FastifyInstance,
  parts: OperationParts,
  shape: R,
  handler: (call: Call<R>) => Promise<DataOf<R> | Worded<DataOf<R>>>,
): void {
  rawOperation(app, parts, shape, async call => {
    const answer = await handler(call);
    const { message, data } = answer instanceof Worded ? answer : { message: 'success', data: answer };
    call.reply.header('content-type', JSON_TYPE);
    return `{"code":200,"message":${message === 'success' ? '"success"' : JSON.stringify(message)},"data":${JSON.stringify(data)}}`;
  });
}

/** An operation that answers by itself: a download, a document, a stream of parts. */
export function rawOperation<const R extends RouteShape>(
  app: FastifyInstance,
  parts: OperationParts,
  shape: R,
  handler: (call: Call<R>) => Promise<unknown>,
): void {
  const params = reading<ParamsOf<R>>(shape.params, 'text');
  const query = reading<QueryOf<R>>(shape.query, 'text');
  const body = reading<BodyOf<R>>(shape.body, 'json');
  app.route({
    method: shape.method,
    url: shape.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: shape.bodyLimit ?? sizes.body,
    // The login answers 401 to a wrong password; the error handler sees that by the operation.
    config: { operation: shape },
    onRequest: gate(parts, shape),
    handler: ((request, reply) =>
      handler({
        context: new RequestContext(request),
        params: params(request.params),
        query: query(request.query),
        body: body(request.body ?? {}),
        request,
        reply,
      })) as RouteHandlerMethod,
  });
}

function reading<T>(schema: TObject | undefined, format: InputFormat): (input: unknown) => T {
  if (!schema) return () => undefined as T;
  const read = compileReader(schema, format);
  return input => {
    const outcome = read(input);
    if (!outcome.ok) throw new ApiError(1001, outcome.message);
    return outcome.value as T;
  };
}

/** Everything that is decided before the body is read. */
function gate({ tokens, limiter }: OperationParts, shape: RouteShape) {
  const allowed = typeof shape.access === 'string' ? null : new Set<CallerRole>(shape.access);
  const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller | null): void => {
    request.caller = caller;
    if (shape.limit) {
      const allowance = limiter.count(shape.limit, shape.limit === 'login' ? request.ip : limitKey(caller));
      if (allowance) {
        tellAllowance(reply, allowance);
        if (!allowance.allowed) throw new RateLimited(allowance);
      }
    }
    if (caller && !allowed!.has(caller.role) && !isOwn(shape, request, caller))
      throw new ApiError(2007, `the role ${caller.role} may not do this`);
  };
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> | undefined => {
    if (shape.body) boundBody(request, reply);
    if (shape.params) refuseEmptyParams(request.params as Record<string, string>);
    const token = allowed ? bearer(request) : null;
    const caller = token === null ? null : tokens.checkNow(token);
    // A token that was seen before goes on in the same turn: measured, 1 µs a request.
    if (token !== null && caller === null) return tokens.check(token).then(found => admit(request, reply, found));
    admit(request, reply, caller);
    done();
    return undefined;
  };
}

/** `/api/devices/` is no device. */
function refuseEmptyParams(params: Record<string, string>): void {
  for (const name in params) if (params[name] === '') throw new ApiError(404, 'no such operation');
}

export function bearer(request: { readonly headers: { readonly authorization?: string | undefined } }): string {
  const header = request.headers.authorization;
  const token = header === undefined ? null : /^Bearer +(\S+) *$/i.exec(header);
  if (!token) throw new ApiError(1004, 'a token is required: Authorization: Bearer …');
  return token[1]!;
}

const limitKey = (caller: Caller | null): string => (caller?.user ? String(caller.user.number) : 'local');

function isOwn(shape: RouteShape, request: FastifyRequest, caller: Caller): boolean {
  if (!shape.ownUser || !caller.user) return false;
  return (request.params as Record<string, string>)[shape.ownUser] === userIds.format(caller.user.number);
}
