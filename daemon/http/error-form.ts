/** Errors of requests that have a form of their own in place of the envelope. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from './responses.ts';

/** Another form of errors than the envelope. */
export interface ErrorForm {
  /** Whether a request gets its errors in this form. */
  isFor(request: Pick<FastifyRequest, 'url'>): boolean;
  send(error: unknown, request: FastifyRequest, reply: FastifyReply): void;
}

/** Sends the response to an error, in the form of the path. `atLogin`: see `errorResponse`. */
export function sendAnyError(
  forms: readonly ErrorForm[],
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  atLogin = false,
): void {
  const form = forms.find(({ isFor }) => isFor(request));
  if (form) form.send(error, request, reply);
  else sendError(error, request, reply, atLogin);
}
