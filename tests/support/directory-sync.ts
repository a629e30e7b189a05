/** The reader of a directory, on a store of its own. */

import { DirectorySettingsService } from '../../daemon/directory/settings.ts';
import { DirectorySync } from '../../daemon/directory/sync.ts';
import { Leavers } from '../../daemon/people/leavers.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import type { Context } from '../../daemon/requests/context.ts';
import { openTemporary } from './sqlite.ts';

const byTest = { caller: { user: null, serviceToken: null }, requestId: 'test', address: '' } as unknown as Context;

export async function openDirectorySync(now: () => number) {
  const { store, cleanup } = await openTemporary();
  const settings = new DirectorySettingsService({ store, sealingKey: Buffer.alloc(32, 1), now });
  const leavers = new Leavers({ store, policies: new PeoplePolicies({ store, now }) });
  const sync = new DirectorySync({ store, leavers, refused: { add: async () => {} }, settings, now });
  const set = (body: Parameters<typeof settings.set>[1]) => settings.set(byTest, body);
  return { store, settings, sync, set, cleanup };
}
