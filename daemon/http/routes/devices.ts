import type { FastifyInstance } from 'fastify';
import { routes } from '../../../src/contract/routes.ts';
import type { DeviceService } from '../../services/devices.ts';
import { type OperationParts, operation, Worded } from '../operation.ts';

export function deviceRoutes(app: FastifyInstance, parts: OperationParts & { readonly devices: DeviceService }): void {
  const { devices } = parts;
  operation(app, parts, routes.register, ({ context, body }) => devices.register(context, body));
  operation(app, parts, routes.batchRegister, async ({ context, body }) => {
    const data = await devices.batchRegister(context, body.devices);
    return data.failed === 0 ? data : new Worded('batch completed with partial failure', data);
  });
  operation(app, parts, routes.activate, ({ context, body }) => devices.activate(context, body));
  operation(app, parts, routes.lock, ({ context, params, body }) => devices.lock(context, params.deviceId, body));
  operation(app, parts, routes.unlock, ({ context, params, body }) => devices.unlock(context, params.deviceId, body));
  operation(app, parts, routes.deactivate, ({ context, params, body }) =>
    devices.deactivate(context, params.deviceId, body),
  );
  operation(app, parts, routes.listDevices, ({ context, query }) => devices.list(context, query));
  operation(app, parts, routes.deviceDetail, ({ context, params }) => devices.detail(context, params.deviceId));
  operation(app, parts, routes.updateDevice, ({ context, params, body, request }) =>
    devices.update(context, params.deviceId, body, (request.body ?? {}) as Record<string, unknown>),
  );
  operation(app, parts, routes.generateActivationCode, ({ context, body }) => devices.generateCode(context, body));
  operation(app, parts, routes.recordUsage, ({ context, params, body }) =>
    devices.recordUsage(context, params.deviceId, body.durationSeconds),
  );
}
