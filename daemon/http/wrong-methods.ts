/** Paths with a name of their own beside a path with a parameter: `/api/devices/register` is no device called "register". */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';

type Placed = Pick<RouteShape, 'method' | 'path'>;

/** Answers 404 to the methods of these paths that the operation of a path with a parameter would take for its own. */
export function refuseWrongMethods(app: FastifyInstance, routes: readonly Placed[]): void {
  for (const { method, path } of shadowed(routes))
    app.route({
      method,
      url: path,
      onRequest: () => {
        throw new ApiError(404, 'no such operation');
      },
      handler: (_request, reply) => reply.callNotFound(),
    });
}

function shadowed(routes: readonly Placed[]): Placed[] {
  const parametric = routes.filter(route => route.path.includes('{'));
  const named = new Set(routes.map(route => route.path).filter(path => !path.includes('{')));
  return [...named].flatMap(path =>
    parametric
      .filter(
        other => matches(other.path, path) && !routes.some(own => own.path === path && own.method === other.method),
      )
      .map(({ method }) => ({ method, path })),
  );
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.split('/');
  return parts.length === given.length && parts.every((part, i) => part.startsWith('{') || part === given[i]);
}
