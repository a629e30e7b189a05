import type { FastifyInstance } from 'fastify';
import { routes } from '../../../src/contract/routes.ts';
import type { Presence } from '../../hardware/attached-keys.ts';
import { type OperationParts, operation } from '../operation.ts';

export function hardwareRoutes(
  app: FastifyInstance,
  parts: OperationParts & { readonly presence: Pick<Presence, 'list' | 'driverStatuses'> },
): void {
  const { presence } = parts;
  operation(app, parts, routes.listKeys, async () => ({
    list: await presence.list(),
    drivers: presence.driverStatuses(),
  }));
}
