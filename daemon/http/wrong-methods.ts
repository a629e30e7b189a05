import type { FastifyInstance } from 'fastify';
import type { RouteShape } from '../../src/contract/define.ts';
import { noSuchOperation } from './responses.ts';

type WrongMethodsEndpoint = Pick<RouteShape, 'method' | 'path'>;

/**
 * Answers 404 to a method that a fixed path does not have and that a path with a parameter would accept instead: GET
 * `/api/devices/register` does not mean a device with the id `register`.
 */
export function refuseWrongMethods(app: FastifyInstance, routes: readonly WrongMethodsEndpoint[]): void {
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

function shadowed(routes: readonly WrongMethodsEndpoint[]): WrongMethodsEndpoint[] {
  const parametric = routes.filter(route => route.path.includes('{'));
  const fixed = new Set(routes.map(route => route.path).filter(path => !path.includes('{')));
  return [...fixed].flatMap(path =>
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
