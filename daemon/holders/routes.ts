import type { Bindings } from '../http/bindings.ts';
import type { HolderService } from './service.ts';

/** Operations of people on their own keys. */
export const holderOperations = (holders: HolderService): Bindings => ({
  listOwnDevices: ({ context }) => holders.list(context),
  listOwnDeviceEvents: ({ context, params, query }) => holders.events(context, params.deviceId, query),
  reportLost: ({ context, params, body }) => holders.lost(context, params.deviceId, body),
  confirmReceived: ({ context, params, body }) => holders.received(context, params.deviceId, body),
});
