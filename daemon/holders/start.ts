/** The people who hold the keys, and their own keys: the role HOLDER. */
import { originRule } from '../http/origin.ts';
import type { StartSubject } from '../http/subject.ts';
import { relyingPartyOf } from '../sign-in/site.ts';
import { HolderService } from './service.ts';

export const startHolders: StartSubject = ({ settings, store, now, offers }) => {
  const rule = { origin: originRule(settings.host, settings.allowHost), publicUrl: settings.publicUrl };
  const holders = new HolderService({
    store,
    links: () => offers.holderLinks,
    receipts: () => offers.receipts!,
    issued: () => offers.issuedKeys!,
    events: query => offers.events.list(query, false),
    now,
  });
  return {
    operations: {
      listOwnDevices: ({ context }) => holders.list(context),
      listOwnDeviceEvents: ({ context, params, query }) => holders.events(context, params.deviceId, query),
      reportLost: ({ context, params, body }) => holders.lost(context, params.deviceId, body),
      confirmReceived: ({ context, params, body, request }) =>
        holders.received(context, params.deviceId, body, relyingPartyOf(request, rule)),
    },
  };
};
