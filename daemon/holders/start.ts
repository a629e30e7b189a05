/** The people who hold the keys, and their own keys: the role HOLDER. */
import { originRule } from '../http/origin.ts';
import type { StartSubject } from '../http/subject.ts';
import { relyingPartyOf } from '../sign-in/site.ts';
import { holderOperations } from './routes.ts';
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
  return { operations: holderOperations(holders, request => relyingPartyOf(request, rule)) };
};
