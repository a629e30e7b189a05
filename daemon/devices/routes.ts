import { exportTypes } from '../../src/contract/devices.ts';
import type { Data } from '../../src/contract/routes.ts';
import { exportFormats } from '../../src/contract/values.ts';
import { type Bindings, batchMessage } from '../http/bindings.ts';
import { exportContent } from '../http/download.ts';
import type { Offers } from '../http/subject.ts';
import type { StepUpRule } from '../requests/session.ts';
import type { DeviceExport } from './export.ts';
import { type DeviceService, filterOf } from './service.ts';

/** The services of devices. */
interface DeviceServices {
  readonly devices: DeviceService;
  readonly exports: DeviceExport;
  readonly statistics: () => Promise<Data<'getStatistics'>>;
  readonly events: Offers['events'];
  readonly stepUp: StepUpRule;
  /** Replaces `stallSeconds`. */
  readonly stallMs?: number;
}

/** Devices, from registration to deactivation. */
export const deviceOperations = (to: DeviceServices): Bindings => ({
  registerDevice: ({ context, body }) => to.devices.register(context, body),
  batchRegisterDevices: {
    handle: ({ context, body }) => to.devices.batchRegister(context, body.devices),
    message: batchMessage,
  },
  batchUpdateDevices: {
    handle: ({ context, body }) => {
      if (body.operation === 'DEACTIVATE') to.stepUp.check(context.caller);
      return to.devices.batchUpdate(context, body);
    },
    message: batchMessage,
  },
  activateDevice: ({ context, body }) => to.devices.activate(context, body),
  lockDevice: ({ context, params, body }) => to.devices.lock(context, params.deviceId, body),
  unlockDevice: ({ context, params, body }) => to.devices.unlock(context, params.deviceId, body),
  deactivateDevice: ({ context, params, body }) => to.devices.deactivate(context, params.deviceId, body),
  shipDevice: ({ context, params }) => to.devices.ship(context, params.deviceId),
  listDevices: ({ context, query }) => to.devices.list(context, query),
  exportDevices: {
    raw: async ({ context, query, request, reply }) => {
      const format = query.format ?? exportFormats[0];
      const options = { descending: query.sortOrder === 'desc', names: query.names };
      const started = await to.exports.start(context.caller, format, filterOf(query, context.caller), options);
      reply.header('content-type', format === 'csv' ? `${exportTypes.csv}; charset=utf-8` : exportTypes.ndjson);
      reply.header('content-disposition', `attachment; filename="devices.${format}"`);
      return reply.send(exportContent(started, request, reply, to.stallMs));
    },
  },
  getStatistics: () => to.statistics(),
  getDevice: async ({ context, params: { deviceId }, query: { events: limit } }) => {
    const detail = await to.devices.detail(context, deviceId);
    if (limit === undefined) return detail;
    const newest = { deviceId, before: Number.MAX_SAFE_INTEGER, limit };
    const { list } = await to.events.list(newest, context.caller.role === 'ADMIN');
    return { ...detail, events: list };
  },
  updateDevice: ({ context, params, body, request }) =>
    to.devices.update(context, params.deviceId, body, (request.body ?? {}) as Record<string, unknown>),
  generateActivationCode: ({ context, body }) => to.devices.generateCode(context, body),
  recordUsage: ({ context, params, body }) => to.devices.recordUsage(context, params.deviceId, body.durationSeconds),
});
