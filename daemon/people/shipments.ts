/** Keys that were sent to their persons, whose arrival no touch has confirmed in time. */
import { hourMs } from '../../src/contract/durations.ts';
import type { PeoplePolicy } from '../../src/contract/people-policy.ts';
import { sleep } from '../../src/delivery/wait.ts';
import type { DueTask } from '../background/due-work.ts';
import { noteOverdue } from '../devices/decisions.ts';
import { isOnItsWay } from '../devices/records.ts';
import type { ServiceParts } from '../requests/context.ts';
import { settingsIn } from '../store/document.ts';
import type { Store } from '../store/store.ts';
import type { Shipment } from './bindings.ts';
import { noPeoplePolicy, overdueSince, PEOPLE_POLICY } from './policy.ts';

/** Devices of one look. */
const PORTION = 100;
const NONE: Shipment = { shippedAt: 0, number: 0 };

async function overdueBy(store: Pick<Store, 'document'>, at: number): Promise<number | null> {
  return overdueSince(settingsIn<PeoplePolicy>(await store.document(PEOPLE_POLICY), noPeoplePolicy).config, at);
}

/** How many are overdue at this time. */
export async function overdueShipmentCount(
  store: Pick<Store, 'document' | 'shipmentCount'>,
  at: number,
): Promise<number> {
  const sentBy = await overdueBy(store, at);
  return sentBy === null ? 0 : store.shipmentCount(sentBy);
}

/** Once an hour: announces each key once, in a commit of its own. The journal has which ones were announced. */
export function overdueShipments({
  store,
  now,
}: ServiceParts<Pick<Store, 'document' | 'shipments' | 'device' | 'events' | 'commit'>>): DueTask {
  let last = NONE;
  const newest = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1, types: ['SHIPMENT_OVERDUE'] } as const;
  const announce = async (number: number) => {
    const device = await store.device(number);
    if (device?.status !== 'ACTIVE' || !isOnItsWay(device)) return;
    const [announced] = await store.events({ ...newest, device: number });
    if (announced && announced.at >= device.shippedAt!) return;
    const { change, guards } = noteOverdue(device);
    await store.commit({ at: now(), actor: null, requestId: null, changes: [change], guards });
  };
  return {
    work: 'shipments',
    undone: 'keys whose arrival is overdue are not announced',
    begin: () => {
      last = NONE;
    },
    look: async turn => {
      const sentBy = await overdueBy(store, now());
      const found = sentBy === null ? [] : await store.shipments(sentBy, last, PORTION);
      for (const shipment of found) {
        if (turn.aborted) return false;
        await announce(shipment.number);
        last = shipment;
      }
      return found.length === PORTION;
    },
    wait: turn => sleep(hourMs, turn),
  };
}
