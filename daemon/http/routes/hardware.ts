import type { FastifyInstance } from 'fastify';
import { routes } from '../../../src/contract/routes.ts';
import type { AttachedKeys } from '../../hardware/attached-keys.ts';
import { type OperationParts, operation } from '../operation.ts';

export function hardwareRoutes(
  app: FastifyInstance,
  parts: OperationParts & { readonly keys: Pick<AttachedKeys, 'list' | 'driverStatuses'> },
): void {
  const { keys } = parts;
  operation(app, parts, routes.listKeys, async () => ({
    list: await keys.list(),
    drivers: keys.driverStatuses(),
  }));
}
