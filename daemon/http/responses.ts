/** How errors become responses: in the envelope, whether there is a Fastify reply, a bare response or only a socket. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, Code, codes, type ErrorCode, httpStatus, type InputProblem } from '../../src/contract/codes.ts';
import { ClientRefused, ProviderAway, ProviderUnavailable } from '../base/errors.ts';
import { FileElsewhere, FilesUnavailable } from '../requests/blob-error.ts';
import { VersionChanged } from '../requests/context.ts';
import { type Allowance, RateLimited, RetryLater } from '../requests/limiter.ts';
import { OutcomeUnknown, StoreFailure, StoreUnavailable } from '../store/commit.ts';
import { readAgain } from './turns.ts';

/** The ETag of a device. */
export const versionTag = (version: number): string => `"${version}"`;

/** Content-Type of every envelope. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Description of an error to a client. */
interface ErrorResponse {
  readonly code: ErrorCode;
  readonly message: string;
  /** HTTP status. */
  readonly status: number;
  /** Null or absent for most errors. */
  readonly data?: object | null;
  readonly details?: readonly InputProblem[];
}

/** An unknown path or method. */
export const noSuchOperation = (): ApiError => new ApiError(404, 'no such operation');

/** The response to an error. It reveals nothing of an unknown error: the details go to the log only. */
export function errorResponse(error: unknown, atLogin = false): ErrorResponse {
  if (error instanceof ApiError)
    return {
      code: error.code,
      message: error.message,
      status: httpStatus(error.code, atLogin),
      data: error.data,
      details: error.details,
    };
  if (error instanceof OutcomeUnknown)
    return { code: 500, message: 'the store has not confirmed whether the change was stored', status: 503 };
  if (error instanceof ClientRefused)
    return {
      code: 500,
      message: 'the provider of single sign-on does not accept this registry: ask an administrator',
      status: 500,
    };
  if (error instanceof ProviderAway)
    return {
      code: 500,
      message: 'the provider of single sign-on does not respond: try again later, or sign in with a local account',
      status: 503,
    };
  if (error instanceof FileElsewhere || error instanceof ProviderUnavailable)
    return { code: 500, message: error.message, status: 503 };
  if (error instanceof FilesUnavailable)
    return {
      code: 500,
      message: 'the object store of the files does not respond; nothing was changed',
      status: 503,
    };
  if (error instanceof StoreUnavailable)
    return { code: 500, message: 'the store does not respond; nothing was changed', status: 503 };
  if (error instanceof StoreFailure)
    return {
      code: 500,
      message: 'the store failed; nothing was changed. The log has the details under the request id',
      status: 500,
    };
  const known = frameworkErrors[(error as FastifyError | undefined)?.code ?? ''];
  if (known) return { ...known, status: httpStatus(known.code) };
  return { code: 500, message: codes[500].meaning, status: 500 };
}

const unknownPath = { code: 404, message: 'no such operation' } as const;
const cutOff = { code: Code.parameterError, message: 'the request was cut off' } as const;

/** By the code of the error, of Fastify or of Node. */
const frameworkErrors: Readonly<Record<string, Omit<ErrorResponse, 'status'>>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: Code.parameterError, message: 'the body is too large for this operation' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: Code.parameterError, message: 'Content-Type must be application/json' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: Code.parameterError, message: 'Content-Length does not match the body' },
  FST_ERR_BAD_URL: unknownPath,
  FST_ERR_ASYNC_CONSTRAINT: unknownPath,
  FST_ERR_MAX_PARAM_LENGTH: unknownPath,
  ECONNRESET: cutOff,
  ERR_STREAM_PREMATURE_CLOSE: cutOff,
};

/** The text of the envelope of an error. `details`: the problems of the input, if the message has only the first of them. */
export function envelope(
  code: number,
  message: string,
  data: object | null = null,
  details: readonly InputProblem[] = [],
): string {
  const problems = details.length > 0 ? details : [{ field: '', reason: message }];
  return JSON.stringify({ code, message, data, ...(code === Code.parameterError && { details: problems }) });
}

/** Sets the headers of the rate limit that the request counted against. */
export function setRateLimitHeaders(reply: FastifyReply, allowance: Allowance): void {
  reply
    .header('x-ratelimit-limit', String(allowance.limit))
    .header('x-ratelimit-remaining', String(allowance.remaining))
    .header('x-ratelimit-reset', String(allowance.resetAt));
  if (!allowance.allowed) reply.header('retry-after', String(allowance.retryAfter));
}

/** Sends the response to an error; closes the connection if one has started. Logs a 500, and a 503 that readiness does not report. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, atLogin: boolean): void {
  const { code, message, status, data, details } = errorResponse(error, atLogin);
  if (status === 500 || error instanceof FilesUnavailable)
    request.server.logger.error({ requestId: request.id, err: error }, 'the request failed');
  if (error instanceof RateLimited) setRateLimitHeaders(reply, error.allowance);
  if (error instanceof VersionChanged) reply.header('etag', versionTag(error.version));
  if (error instanceof RetryLater) reply.header('retry-after', String(error.retryAfter));
  if (status === 503) reply.header('retry-after', String(RETRY_AFTER));
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  reply
    .code(status)
    .header('content-type', JSON_TYPE)
    .send(envelope(code, message, data, details));
}

/** Seconds after which a request that was answered 503 can be sent again. */
export const RETRY_AFTER = 1;

/** The origin that every response names: the id of its request, and the daemon. */
interface Origin {
  readonly id: string;
  readonly node: string;
}

/** Answers what Node's HTTP parser rejects: it never becomes a request, so there is only the socket. */
export function answerUnparseable(
  { logger, node, turns }: FastifyInstance,
  error: Error & { code?: string },
  socket: Socket,
  id: string,
): void {
  logger.debug({ reason: error.code, requestId: id }, 'a request could not be parsed');
  if (error.code === 'ECONNRESET') return void socket.destroy();
  turns.last(socket, isAnswered => {
    const refusal = () => rawResponse(400, envelope(Code.parameterError, parserMessage(error.code)), { id, node });
    if (!socket.writable) socket.destroy();
    else endSocket(socket, isAnswered ? '' : refusal());
  });
}

function parserMessage(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'the request header is too large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'the request did not arrive in time';
  return 'the request is not valid HTTP';
}

/** Answers what Node would answer automatically or not at all: a tunnel, and an expectation other than 100-continue. */
export function answerUnsupported({ server, node, turns }: FastifyInstance, nextId: () => string): void {
  server.on('connect', ({ socket }, stream) => {
    const refuse = () =>
      endSocket(socket, rawResponse(404, envelope(404, 'no such operation'), { id: nextId(), node }));
    turns.last(socket, refuse, stream);
  });
  server.on('checkExpectation', ({ socket }, response) =>
    turns.answer(socket, response, () => refuseExpectation(response, { id: nextId(), node })),
  );
}

function refuseExpectation(response: ServerResponse, { id, node }: Origin): void {
  const body = envelope(Code.parameterError, 'the only supported value of the header Expect is 100-continue');
  response.writeHead(400, {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    'x-devmgr-node': node,
    connection: 'close',
  });
  response.end(body);
}

/** Milliseconds after which a refused client that does not close the connection is disconnected. */
const REFUSED_GRACE_MS = 5000;

/** Sends a last response on a socket that Node no longer watches, and closes it. */
export function endSocket(socket: Socket, response: string): void {
  const timer = setTimeout(() => socket.destroy(), REFUSED_GRACE_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(response);
  // Unread input would turn the response into a reset.
  readAgain(socket);
}

/** The text of a response, for a socket that has no response object: a parse error, a refused upgrade. */
export function rawResponse(
  status: number,
  body: string,
  { id, node }: Origin,
  more: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': id,
    'X-Devmgr-Node': node,
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
    ...more,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`;
}
