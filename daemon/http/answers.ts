/** The one place where answers that are no success take their shape. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ApiError, type ErrorCode, httpStatus } from '../../src/contract/codes.ts';
import { RateLimited } from '../services/limiter.ts';
import { StoreFailure } from '../store/store.ts';
import { tellAllowance } from './limits.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

/** What the client is told of an error. Nothing of an unknown one: its details go to the log alone. */
export function refusalOf(error: unknown, atLogin = false): Refusal {
  if (error instanceof ApiError)
    return { code: error.code, message: error.message, status: httpStatus(error.code, atLogin) };
  if (error instanceof StoreFailure)
    return { code: 500, message: 'the service cannot store changes at present; nothing was changed', status: 500 };
  const known = frameworkMessages[(error as FastifyError | undefined)?.code ?? ''];
  if (known) return { ...known, status: httpStatus(known.code) };
  return { code: 500, message: 'internal error; the log has it under the request id', status: 500 };
}

const frameworkMessages: Readonly<Record<string, Omit<Refusal, 'status'>>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 1001, message: 'the body is larger than this operation takes' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 1001, message: 'Content-Type must be application/json' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 1001, message: 'Content-Length does not match the body' },
  FST_ERR_BAD_URL: { code: 404, message: 'no such operation' },
  FST_ERR_ASYNC_CONSTRAINT: { code: 404, message: 'no such operation' },
  FST_ERR_MAX_LIMIT: { code: 404, message: 'no such operation' },
  ECONNRESET: { code: 1001, message: 'the request was broken off' },
  ERR_STREAM_PREMATURE_CLOSE: { code: 1001, message: 'the request was broken off' },
};

export const envelope = (code: number, message: string): string => JSON.stringify({ code, message, data: null });

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, atLogin: boolean): void {
  const { code, message, status } = refusalOf(error, atLogin);
  if (status === 500) request.server.diary.error({ requestId: request.id, err: error }, 'the request failed');
  if (error instanceof RateLimited) tellAllowance(reply, error.allowance);
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  reply.code(status).header('content-type', JSON_TYPE).send(envelope(code, message));
}

/** What Node's HTTP parser refuses never becomes a request: answered on the bare socket, in the envelope all the same. */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
  log: Logger,
): void {
  log.debug({ reason: error.code, requestId }, 'a request could not be parsed');
  if (error.code === 'ECONNRESET' || !socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(400, envelope(1001, brokenRequestWords(error.code)), requestId));
}

/** What Node would answer, or leave without an answer, by itself: a tunnel, an expectation that is not 100-continue. */
export function answerOddRequests(server: Server, nextId: () => string): void {
  server.on('connect', ({ socket }) => {
    endWith(socket, rawAnswer(404, envelope(404, 'no such operation'), nextId()));
  });
  server.on('checkExpectation', (_request, response) => {
    const body = envelope(1001, 'the header Expect may be 100-continue alone');
    response.writeHead(400, {
      'content-type': JSON_TYPE,
      'content-length': Buffer.byteLength(body),
      'x-request-id': nextId(),
      connection: 'close',
    });
    response.end(body);
  });
}

/** Milliseconds after which a refused client that does not hang up is cut off. */
const REFUSED_GRACE = 5000;

/** The last words on a socket that Node has let go of: nobody else would read on, or notice that the client is gone. */
export function endWith(socket: Socket, answer: string): void {
  const timer = setTimeout(() => socket.destroy(), REFUSED_GRACE);
  socket.once('close', () => clearTimeout(timer)).on('error', () => socket.destroy());
  socket.end(answer);
  // Without reading on, what the client still sends would turn the answer into a reset.
  socket.resume();
}

function brokenRequestWords(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'the request header is too large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'the request did not arrive in time';
  return 'the request is not valid HTTP';
}

/** An answer for a socket that has no response object: a parse error, a refused upgrade. */
export function rawAnswer(
  status: number,
  body: string,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`;
}
