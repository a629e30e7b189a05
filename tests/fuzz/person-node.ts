/** A daemon of the model of persons: its services, without processes and HTTP. */
import { Refusal } from '../../daemon/base/decision.ts';
import { deviceOperations } from '../../daemon/devices/operations.ts';
import { edit } from '../../daemon/people/decisions.ts';
import { Leavers } from '../../daemon/people/leavers.ts';
import { MatchingDevices } from '../../daemon/people/matching-devices.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import { UndoingBatches } from '../../daemon/people/undo.ts';
import type { Context } from '../../daemon/requests/context.ts';
import { retrying } from '../../daemon/requests/context.ts';
import { ScimError } from '../../daemon/scim/error.ts';
import { ScimUsers } from '../../daemon/scim/scim-users.ts';
import type { Store } from '../../daemon/store/store.ts';
import { commit } from '../contract/store/fixtures.ts';
import type { PersonStep, StepOutcome } from '../support/person-model.ts';

const caller = { role: 'ADMIN', user: null, serviceToken: null, expiresAt: 0, loginAt: 0 } as const;
export const context = { caller, requestId: 'r', address: '127.0.0.1' } as Context;

/** Carries out the steps of the model on a store. */
export function personNode(store: Store, now: () => number) {
  const policies = new PeoplePolicies({ store, now });
  const leavers = new Leavers({ store, policies });
  const refused = { changes: () => [] };
  const users = new ScimUsers({ store, leavers, refused, now });
  const matching = new MatchingDevices({ store, now });
  const operations = deviceOperations({ guessing: { code: async () => {} } as never, owners: policies });
  const scim = async (run: () => Promise<{ readonly id: string } | null>): Promise<StepOutcome> => {
    const found = await run().catch(error => {
      if (error instanceof ScimError && (error.status === 409 || error.status === 404)) return 'refused' as const;
      throw error;
    });
    return found === 'refused' || found === null ? found : Number(found.id.slice('PER-'.length));
  };
  const requestOf = (by: Context) => (body: unknown) => ({ context: by, base: '', body, ifMatch: undefined });
  const patchWith = (request: ReturnType<typeof requestOf>) => (person: number, value: object) =>
    scim(() => users.patch(`PER-${person}`, request({ Operations: [{ op: 'replace', value }] })) as never);
  const onDevice = (name: 'ACTIVATE' | 'LOCK' | 'UNLOCK', number: number, fields: object): Promise<StepOutcome> =>
    retrying(async () => {
      const device = (await store.device(number))!;
      const all = { activationCode: device.activationCode, reason: 'lost', ...fields };
      const decided = await operations[name].decide(device, all as never, now(), context);
      if (decided instanceof Refusal) return 'refused';
      await commit(store, [decided.change], { at: now(), guards: decided.guards });
      return null;
    });
  const carryOut = async (step: PersonStep, requestId = context.requestId): Promise<StepOutcome> => {
    const by = { ...context, requestId };
    const request = requestOf(by);
    const patch = patchWith(request);
    switch (step.kind) {
      case 'create': {
        const { name: userName, externalId } = step;
        return scim(() => users.create(request({ userName, externalId })));
      }
      case 'rename':
        return (await patch(step.person, { userName: step.name })) === 'refused' ? 'refused' : null;
      case 'leave':
      case 'back':
        return (await patch(step.person, { active: step.kind === 'back' })) === 'refused' ? 'refused' : null;
      case 'remove':
        return scim(() => users.remove(`PER-${step.person}`, request(null)));
      case 'join':
        return retrying(async () => {
          const person = (await store.person(step.person))!;
          if (person.removedAt !== null) return 'refused';
          const change = edit(person, { groups: step.groups });
          if (change) await commit(store, [change], { at: now(), requestId });
          return null;
        });
      case 'due':
        return retrying(async () => {
          const person = (await store.person(step.person))!;
          await commit(store, await leavers.changes([person], { step: 'due', reason: 'left' }), { at: now() });
          return null;
        });
      case 'match': {
        const item = { deviceId: `DEV-${step.device}`, personId: `PER-${step.person}` };
        return (await matching.match(by, { matches: [item] })).failed > 0 ? 'refused' : null;
      }
      case 'activate':
        return onDevice('ACTIVATE', step.device, { userId: step.name });
      default:
        return onDevice(step.kind === 'lock' ? 'LOCK' : 'UNLOCK', step.device, {});
    }
  };
  const undoing = new UndoingBatches({ store, leavers, now });
  return Object.assign(carryOut, { undo: (requestId: string) => undoing.run(context, { requestId }) });
}

export type PersonNode = ReturnType<typeof personNode>;
