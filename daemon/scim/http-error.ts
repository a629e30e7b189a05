/** Errors of SCIM requests, which have no envelope. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorForm } from '../http/error-form.ts';
import { errorResponse } from '../http/responses.ts';
import { errorBody, ScimError } from './error.ts';

/** Where SCIM is. */
export const SCIM_PATH = '/scim/v2';
/** Content-Type of its responses. */
export const SCIM_TYPE = 'application/scim+json; charset=utf-8';

/** Whether a request is for SCIM: its errors have no envelope. */
const isScim = ({ url }: Pick<FastifyRequest, 'url'>): boolean =>
  url.startsWith(SCIM_PATH) && (url.length === SCIM_PATH.length || '/?'.includes(url[SCIM_PATH.length]!));

function sendScimError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message } = error instanceof ScimError ? error : errorResponse(error);
  if (status === 500) request.server.logger.error({ requestId: request.id, err: error }, 'the request failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (status === 503 || status === 429) reply.header('retry-after', '1');
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const scimType = error instanceof ScimError ? error.scimType : status === 400 ? 'invalidSyntax' : null;
  void reply
    .code(status)
    .header('content-type', SCIM_TYPE)
    .send(JSON.stringify(errorBody(status, scimType, message)));
}

/** The errors of SCIM. */
export const scimErrors: ErrorForm = { isFor: isScim, send: sendScimError };
