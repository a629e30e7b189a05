/** Persons: those who hold keys, and what follows when they leave. */

import { minuteMs } from '../../src/contract/durations.ts';
import { sleep } from '../../src/delivery/wait.ts';
import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { Cases } from './cases.ts';
import { demandPresent } from './device-decisions.ts';
import { dailyDrift, ProviderDrift } from './drift.ts';
import type { PersonReader } from './drift-records.ts';
import { bindEarlierDevices } from './earlier-devices.ts';
import { Erasure } from './erasure.ts';
import { Leavers } from './leavers.ts';
import { MatchingDevices } from './matching-devices.ts';
import { PeopleImport } from './people-import.ts';
import { personNames } from './person-names.ts';
import { PeoplePolicies } from './policies.ts';
import { ProvisioningLog } from './provisioning-log.ts';
import { RefusedRequests } from './refused.ts';
import { peopleOperations } from './routes.ts';
import { PeopleService } from './service.ts';
import { overdueShipments } from './shipments.ts';
import { StandingCheck } from './standing-check.ts';
import { UndoingBatches } from './undo.ts';
import { dueErasures, dueLeavers, earlierDevices, overdueItems } from './work.ts';

declare module '../http/subject.ts' {
  interface Offers {
    people?: { readonly leavers: Leavers; readonly refused: RefusedRequests };
    /** Providers whose users can be read. */
    personReaders?: () => Promise<readonly PersonReader[]>;
  }
}

export const startPeople: StartSubject = async ({ log, stack, store, now, offers }) => {
  const earlier = await bindEarlierDevices(store, now);
  if (earlier.bound + earlier.unmatched > 0)
    log.info(
      earlier,
      'devices of an earlier version were bound to the persons with their names; the others are listed by people match',
    );
  const peoplePolicies = new PeoplePolicies({ store, now });
  const leavers = new Leavers({ store, policies: peoplePolicies });
  stack.start(new DueWork({ store, log }, dueLeavers({ store, leavers, now })));
  if (store.sharedWork) stack.start(new DueWork({ store, log }, earlierDevices({ store, now })));
  const refused = new RefusedRequests({ store, log, now });
  const people = new PeopleService({ store, leavers, now, webhooks: async () => (await offers.webhooks?.()) ?? [] });
  const cases = new Cases({ store, now });
  const check = new StandingCheck({ store, log, now });
  stack.start(new DueWork({ store, log }, overdueItems({ store, cases, check, now })));
  const erasure = new Erasure({
    ...{ store, now, log, policies: peoplePolicies },
    confirm: (context, password) => offers.accounts.passwords.confirmAdministrator(context, password),
  });
  stack.start(new DueWork({ store, log }, dueErasures(erasure)));
  stack.start(new DueWork({ store, log }, overdueShipments({ store, now })));
  const readers = async () => (await offers.personReaders?.()) ?? [];
  const drift = new ProviderDrift({ store, leavers, readers, now, log });
  stack.start(
    new DueWork(
      { store, log },
      dailyDrift(drift, turn => sleep(10 * minuteMs, turn)),
    ),
  );
  offers.people = { leavers, refused };
  offers.ownerJudge = peoplePolicies;
  offers.persons = {
    named: async userName => store.personByName(userName),
    numbered: async person => store.person(person),
    presence: ({ userKey }) => demandPresent(userKey),
  };
  offers.personNames = personNames(store);
  return {
    operations: peopleOperations({
      people,
      cases,
      check,
      log: new ProvisioningLog({ store, refused }),
      refused,
      erasure,
      imports: new PeopleImport({ store, leavers, refused, now }),
      matching: new MatchingDevices({ store, now }),
      drift,
      undo: new UndoingBatches({ store, leavers, now }),
      peoplePolicies,
    }),
    gauges: async () => {
      const [left, figures] = await Promise.all([people.leftovers(), check.figures()]);
      return {
        devmgr_leavers_held: {
          help: 'Persons whose devices or new user name wait for a release',
          value: await people.heldCount(),
        },
        devmgr_leavers_active_devices: { help: 'ACTIVE devices of persons who have left', value: left.activeDevices },
        devmgr_leavers_tokens: {
          help: 'Service tokens, neither revoked nor expired, whose owner has left or is disabled',
          value: left.tokens,
        },
        devmgr_leavers_accounts: { help: 'Enabled accounts of persons who have left', value: figures.accounts },
        devmgr_leavers_live_tokens: {
          help: 'Service tokens of persons who have left that are accepted',
          value: figures.tokens,
        },
        devmgr_leavers_credentials: {
          help: 'Credentials of devices of persons who have left that providers have not removed',
          value: figures.credentials,
        },
        devmgr_devices_unmatched: {
          help: 'ACTIVE devices with a userId that is not that of a person',
          value: figures.unmatched,
        },
        devmgr_persons_unreported: {
          help: 'Active persons whose source can no longer report that they leave',
          value: figures.unreported,
        },
        devmgr_persons_drifted: {
          help: 'Active persons who are gone or disabled at their identity provider or in the directory',
          value: figures.drift,
        },
        devmgr_persons_unerased: {
          help: 'Persons whom the policy should have erased a day ago',
          value: figures.unerased,
        },
        devmgr_shipments_overdue: {
          help: 'Keys that were sent to their persons, whose arrival is overdue',
          value: figures.shipments,
        },
        devmgr_cases_open: { help: 'Open cases of persons who have left', value: figures.cases },
        devmgr_provisioning_refused: {
          help: 'Provisioning requests of the last day that were not stored as sent, at most 200 of each source',
          value: await refused.recent(),
        },
      };
    },
  };
};
