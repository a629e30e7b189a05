/** Persons: those who hold keys, and what follows when they leave. */
import { type DueTask, DueWork } from '../background/due-work.ts';
import { batchMessage } from '../http/bindings.ts';
import type { StartSubject } from '../http/subject.ts';
import { Cases } from './cases.ts';
import { demandPresent } from './device-decisions.ts';
import { dailyDrift, ProviderDrift } from './drift.ts';
import type { PersonReader } from './drift-records.ts';
import { bindEarlierDevices } from './earlier-devices.ts';
import { Erasure } from './erasure.ts';
import { Leavers } from './leavers.ts';
import { personNames } from './lookups.ts';
import { MatchingDevices } from './matching-devices.ts';
import { PeopleImport } from './people-import.ts';
import { PeoplePolicies } from './policies.ts';
import { ProvisioningLog } from './provisioning-log.ts';
import { RefusedRequests } from './refused.ts';
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

const gauge = (help: string, value: number) => ({ help, value });

export const startPeople: StartSubject = async ({ log, stack, store, now, offers }) => {
  const earlier = await bindEarlierDevices(store, now);
  if (earlier.bound + earlier.unmatched > 0)
    log.info(
      earlier,
      'devices of an earlier version were bound to the persons with their names; the others are listed by people match',
    );
  const due = (task: DueTask) => stack.start(new DueWork({ store, log }, task));
  const peoplePolicies = new PeoplePolicies({ store, now });
  const leavers = new Leavers({ store, policies: peoplePolicies });
  due(dueLeavers({ store, leavers, now }));
  if (store.sharedWork) due(earlierDevices({ store, now }));
  const refused = new RefusedRequests({ store, log, now });
  const people = new PeopleService({ store, leavers, now, webhooks: async () => (await offers.webhooks?.()) ?? [] });
  const cases = new Cases({ store, now });
  const check = new StandingCheck({ store, log, now });
  due(overdueItems({ store, cases, check, now }));
  const erasure = new Erasure({
    ...{ store, now, log, policies: peoplePolicies },
    confirm: (context, password) => offers.accounts.passwords.confirmAdministrator(context, password),
  });
  due(dueErasures(erasure));
  due(overdueShipments({ store, now }));
  const readers = async () => (await offers.personReaders?.()) ?? [];
  const drift = new ProviderDrift({ store, leavers, readers, now, log });
  due(dailyDrift(drift));
  offers.people = { leavers, refused };
  offers.ownerJudge = peoplePolicies;
  offers.persons = {
    named: async userName => store.personByName(userName),
    numbered: async person => store.person(person),
    presence: ({ userKey }) => demandPresent(userKey),
  };
  offers.personNames = personNames(store);
  const provisioning = new ProvisioningLog({ store, refused });
  const imports = new PeopleImport({ store, leavers, refused, now });
  const matching = new MatchingDevices({ store, now });
  const undo = new UndoingBatches({ store, leavers, now });
  return {
    operations: {
      listPeople: ({ context, query }) => people.list(context, query),
      createPerson: ({ context, body }) => people.create(context, body),
      countLeftovers: () => people.leftovers(),
      checkPeople: () => check.figures(),
      listCases: ({ query }) => cases.list(query),
      showCase: ({ params }) => cases.show(params.personId),
      keepCaseItem: ({ context, params, body }) => cases.keep(context, params.personId, body),
      closeCase: ({ context, params }) => cases.close(context, params.personId),
      reportPerson: ({ params }) => people.report(params.personId),
      erasePerson: ({ context, params, body }) => erasure.erase(context, params.personId, body),
      getPersonAccess: ({ params }) => people.access(params.personId),
      getPerson: ({ context, params }) => people.show(context, params.personId),
      personLeaves: ({ context, params, body }) => people.leave(context, params.personId, body),
      personReturns: ({ context, params }) => people.comeBack(context, params.personId),
      listHeldPeople: ({ context }) => people.held(context),
      listRefusedRequests: ({ query }) => refused.list(query),
      listProvisioning: ({ query }) => provisioning.list(query),
      listUnmatched: ({ query }) => matching.list(query),
      importPeople: { handle: ({ context, body }) => imports.run(context, body), message: batchMessage },
      matchPeople: { handle: ({ context, body }) => matching.match(context, body), message: batchMessage },
      comparePeople: ({ context, body }) => drift.compare(context, body),
      undoPeople: ({ context, body }) => undo.run(context, body),
      releasePeople: ({ context, body }) => people.release(context, body),
      showPeoplePolicy: () => peoplePolicies.show(),
      setPeoplePolicy: ({ context, body }) => peoplePolicies.set(context, body),
    },
    gauges: async () => {
      const [left, figures] = await Promise.all([people.leftovers(), check.figures()]);
      return {
        devmgr_leavers_held: gauge(
          'Persons whose devices or new user name wait for a release',
          await people.heldCount(),
        ),
        devmgr_leavers_active_devices: gauge('ACTIVE devices of persons who have left', left.activeDevices),
        devmgr_leavers_tokens: gauge(
          'Service tokens, neither revoked nor expired, whose owner has left or is disabled',
          left.tokens,
        ),
        devmgr_leavers_accounts: gauge('Enabled accounts of persons who have left', figures.accounts),
        devmgr_leavers_live_tokens: gauge('Service tokens of persons who have left that are accepted', figures.tokens),
        devmgr_leavers_credentials: gauge(
          'Credentials of devices of persons who have left that providers have not removed',
          figures.credentials,
        ),
        devmgr_devices_unmatched: gauge('ACTIVE devices with a userId that is not that of a person', figures.unmatched),
        devmgr_persons_unreported: gauge(
          'Active persons whose source can no longer report that they leave',
          figures.unreported,
        ),
        devmgr_persons_drifted: gauge(
          'Active persons who are gone or disabled at their identity provider or in the directory',
          figures.drift,
        ),
        devmgr_persons_unerased: gauge('Persons whom the policy should have erased a day ago', figures.unerased),
        devmgr_shipments_overdue: gauge(
          'Keys that were sent to their persons, whose arrival is overdue',
          figures.shipments,
        ),
        devmgr_cases_open: gauge('Open cases of persons who have left', figures.cases),
        devmgr_provisioning_refused: gauge(
          'Provisioning requests of the last day that were not stored as sent, at most 200 of each source',
          await refused.recent(),
        ),
      };
    },
  };
};
