/** Devices with serial numbers that earlier versions registered and this one refuses. */
import { Home } from '../../daemon/home/home.ts';
import { openStore } from '../../daemon/start/store-engine.ts';
import { addDevice } from '../contract/store/fixtures.ts';

/** Registers devices in the registry of a home; no daemon may run on it. */
export async function registerBefore(folder: string, ...serials: readonly string[]): Promise<void> {
  const store = await openStore(null, await Home.open(folder), () => undefined);
  const changes = serials.map(serial => addDevice(serial));
  await store.commit({ at: Date.now(), actor: null, requestId: null, changes });
  await store.close();
}
