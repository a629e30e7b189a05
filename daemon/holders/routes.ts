import type { FastifyRequest } from 'fastify';
import type { Bindings } from '../http/bindings.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import type { HolderService } from './service.ts';

/** Operations of people on their own keys. `siteOf`: the page of a request, or why keys cannot be used there. */
export const holderOperations = (
  holders: HolderService,
  siteOf: (request: FastifyRequest) => RelyingParty | string,
): Bindings => ({
  listOwnDevices: ({ context }) => holders.list(context),
  listOwnDeviceEvents: ({ context, params, query }) => holders.events(context, params.deviceId, query),
  reportLost: ({ context, params, body }) => holders.lost(context, params.deviceId, body),
  confirmReceived: ({ context, params, body, request }) =>
    holders.received(context, params.deviceId, body, siteOf(request)),
});
