import type { FastifyInstance } from 'fastify';
import type { RouteShape } from '../../src/contract/define.ts';
import { noSuchOperation } from './responses.ts';

type Endpoint = Pick<RouteShape, 'method' | 'path'>;

/**
 * Answers 404 to a method that a fixed path does not have and that a path with a parameter would accept instead: GET
 * `/api/devices/register` does not mean a device with the id `register`.
 */
export function refuseWrongMethods(app: FastifyInstance, routes: readonly Endpoint[]): void {
  for (const { method, path } of shadowed(routes))
    app.route({
      method,
      url: path,
      onRequest: () => {
        throw noSuchOperation();
      },
      handler: (_request, reply) => reply.callNotFound(),
    });
}

function shadowed(routes: readonly Endpoint[]): Endpoint[] {
  const parametric = routes
    .filter(route => route.path.includes('{'))
    .map(route => ({ ...route, parts: partsOf(route) }));
  const fixed = new Map(routes.filter(route => !route.path.includes('{')).map(route => [route.path, partsOf(route)]));
  return [...fixed].flatMap(([path, given]) =>
    parametric
      .filter(
        other => matches(other.parts, given) && !routes.some(own => own.path === path && own.method === other.method),
      )
      .map(({ method }) => ({ method, path })),
  );
}

const partsOf = ({ path }: Endpoint): readonly string[] => path.split('/');

function matches(pattern: readonly string[], given: readonly string[]): boolean {
  return pattern.length === given.length && pattern.every((part, i) => part.startsWith('{') || part === given[i]);
}
