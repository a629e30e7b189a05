import { type Bindings, batchMessage } from '../http/bindings.ts';
import type { Cases } from './cases.ts';
import type { ProviderDrift } from './drift.ts';
import type { Erasure } from './erasure.ts';
import type { MatchingDevices } from './matching-devices.ts';
import type { PeopleImport } from './people-import.ts';
import type { PeoplePolicies } from './policies.ts';
import type { ProvisioningLog } from './provisioning-log.ts';
import type { RefusedRequests } from './refused.ts';
import type { PeopleService } from './service.ts';
import type { StandingCheck } from './standing-check.ts';
import type { UndoingBatches } from './undo.ts';

/** The services of persons. */
interface PeopleServices {
  readonly people: PeopleService;
  readonly cases: Cases;
  readonly check: StandingCheck;
  readonly log: ProvisioningLog;
  readonly refused: RefusedRequests;
  readonly erasure: Erasure;
  readonly imports: PeopleImport;
  readonly matching: MatchingDevices;
  readonly undo: UndoingBatches;
  readonly drift: ProviderDrift;
  readonly peoplePolicies: PeoplePolicies;
}

/** Persons, and the policy about them. */
export const peopleOperations = (to: PeopleServices): Bindings => ({
  listPeople: ({ context, query }) => to.people.list(context, query),
  createPerson: ({ context, body }) => to.people.create(context, body),
  countLeftovers: () => to.people.leftovers(),
  checkPeople: () => to.check.figures(),
  listCases: ({ query }) => to.cases.list(query),
  showCase: ({ params }) => to.cases.show(params.personId),
  keepCaseItem: ({ context, params, body }) => to.cases.keep(context, params.personId, body),
  closeCase: ({ context, params }) => to.cases.close(context, params.personId),
  reportPerson: ({ params }) => to.people.report(params.personId),
  erasePerson: ({ context, params, body }) => to.erasure.erase(context, params.personId, body),
  getPersonAccess: ({ params }) => to.people.access(params.personId),
  getPerson: ({ context, params }) => to.people.show(context, params.personId),
  personLeaves: ({ context, params, body }) => to.people.leave(context, params.personId, body),
  personReturns: ({ context, params }) => to.people.comeBack(context, params.personId),
  listHeldPeople: ({ context }) => to.people.held(context),
  listRefusedRequests: ({ query }) => to.refused.list(query),
  listProvisioning: ({ query }) => to.log.list(query),
  listUnmatched: ({ query }) => to.matching.list(query),
  importPeople: { handle: ({ context, body }) => to.imports.run(context, body), message: batchMessage },
  matchPeople: { handle: ({ context, body }) => to.matching.match(context, body), message: batchMessage },
  comparePeople: ({ context, body }) => to.drift.compare(context, body),
  undoPeople: ({ context, body }) => to.undo.run(context, body),
  releasePeople: ({ context, body }) => to.people.release(context, body),
  showPeoplePolicy: () => to.peoplePolicies.show(),
  setPeoplePolicy: ({ context, body }) => to.peoplePolicies.set(context, body),
});
