import type { FastifyInstance } from 'fastify';
import type { DataOf } from '../../../src/contract/define.ts';
import type { DriverStatus } from '../../../src/contract/hardware.ts';
import { routes } from '../../../src/contract/routes.ts';
import type { Store } from '../../store/store.ts';
import { type OperationParts, operation } from '../operation.ts';

export interface SystemParts extends OperationParts {
  readonly store: Store;
  readonly version: string;
  readonly drivers: () => readonly DriverStatus[];
}

export function systemRoutes(app: FastifyInstance, parts: SystemParts): void {
  const startedAt = performance.now();
  operation(app, parts, routes.health, async (): Promise<DataOf<typeof routes.health>> => {
    const { ready, detail } = await parts.store.health();
    return {
      status: ready ? 'ok' : 'degraded',
      service: 'devmgr',
      version: parts.version,
      ready,
      store: { state: ready ? 'ready' : 'unavailable', detail },
      drivers: [...parts.drivers()],
      uptimeSeconds: Math.floor((performance.now() - startedAt) / 1000),
    };
  });
}
