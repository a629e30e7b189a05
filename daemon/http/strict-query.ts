/** Refuses queries that select more than their sender means: a filter whose value is empty, or whose name the operation does not know. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';

/** Whether the header Prefer has `handling=strict` (RFC 7240). */
export const wantsStrict = (prefer: string | string[] | undefined): boolean =>
  prefer !== undefined && String(prefer).split(',').some(isStrict);

function isStrict(preference: string): boolean {
  const [name, value] = preference.split(';', 1)[0]!.split('=', 2);
  return name!.trim().toLowerCase() === 'handling' && /^"?strict"?$/i.test(value?.trim() ?? '');
}

/**
 * Refuses with 1001, and names the parameter. Checked where the operation works on all that its query selects, and wherever the request
 * prefers it, which the response then confirms.
 */
export function checkQuery(
  { query, strictQuery }: Pick<RouteShape, 'query' | 'strictQuery'>,
  request: { readonly headers: IncomingHttpHeaders; readonly query: unknown },
  reply?: FastifyReply,
): void {
  const isWanted = wantsStrict(request.headers.prefer);
  if (isWanted) reply?.header('preference-applied', 'handling=strict');
  if (!isWanted && !strictQuery) return;
  const given = Object.entries(request.query as Record<string, string | string[]>);
  const problems = given.flatMap(([field, value]) => {
    if (!Object.hasOwn(query?.properties ?? {}, field))
      return [{ field, reason: 'is not a parameter of this operation' }];
    return [value].flat().some(text => text.trim() === '') ? [{ field, reason: 'must not be empty' }] : [];
  });
  const [first] = problems;
  if (first) throw new ApiError(Code.parameterError, `${first.field} ${first.reason}`, null, problems);
}
