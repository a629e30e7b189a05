/** Persons are created, renamed, leave, are removed and come back in random order: each key stays that of its person. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../daemon/domain/decision.ts';
import type { Context } from '../../daemon/services/context.ts';
import { retrying } from '../../daemon/services/context.ts';
import { deviceOperations } from '../../daemon/services/device-operations.ts';
import { Leavers } from '../../daemon/services/people/leavers.ts';
import { MatchingDevices } from '../../daemon/services/people/matching-devices.ts';
import { PeoplePolicies } from '../../daemon/services/people/people-policies.ts';
import { ScimError } from '../../daemon/services/scim/error.ts';
import { ScimUsers } from '../../daemon/services/scim/scim-users.ts';
import type { Store } from '../../daemon/store/store.ts';
import { addDevice, commit, setDevice } from '../contract/store/fixtures.ts';
import { mulberry } from '../support/mulberry.ts';
import {
  type ModelDevice,
  type ModelPerson,
  type People,
  type PersonStep,
  personStep,
  type StepOutcome,
  usableByLeavers,
} from '../support/person-model.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { openTemporary } from '../support/sqlite.ts';

/** `npm run test:leavers` has 10,000 on each engine. */
const HISTORIES = Number(process.env.DEVMGR_PERSON_HISTORIES ?? 60);
const seed = Number(process.env.DEVMGR_LEAVERS_SEED ?? Date.now() % 1_000_000_000);
const timeout = 60_000 + 200 * HISTORIES;
const STEPS = 14;
const DEVICES = 5;
const LANES = 16;
/** ACTIVE devices of which all leavers of a moment have less than 5 %. */
const OTHERS = 2000;
const names = ['ann', 'Ann', 'zoë', 'zoe\u0308', 'ZOË', 'zoe', 'bob'];
/** So long after each other that the brake holds no one. */
const STEP_MS = 11 * 60_000;

const caller = { role: 'ADMIN', user: null, serviceToken: null, expiresAt: 0, loginAt: 0 } as const;
const context = { caller, requestId: 'r', address: '127.0.0.1' } as Context;

/** The services of one daemon. */
function nodeOn(store: Store, now: () => number) {
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
  const request = (body: unknown) => ({ context, base: '', body, ifMatch: undefined });
  const patch = (person: number, value: object) =>
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
  return async (step: PersonStep): Promise<StepOutcome> => {
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
      case 'due':
        return retrying(async () => {
          const person = (await store.person(step.person))!;
          await commit(store, await leavers.changes([person], { step: 'due', reason: 'left' }), { at: now() });
          return null;
        });
      case 'match': {
        const item = { deviceId: `DEV-${step.device}`, personId: `PER-${step.person}` };
        return (await matching.match(context, { matches: [item] })).failed > 0 ? 'refused' : null;
      }
      case 'activate':
        return onDevice('ACTIVATE', step.device, { userId: step.name });
      default:
        return onDevice(step.kind === 'lock' ? 'LOCK' : 'UNLOCK', step.device, {});
    }
  };
}

type Node = ReturnType<typeof nodeOn>;

/** What the registry has of the persons and devices that the model knows. */
async function found(store: Store, { persons, devices }: People): Promise<object> {
  const person = async ({ number }: ModelPerson) => {
    const { userName, active, removedAt, dueAt, externalId } = (await store.person(number))!;
    const state = { name: userName, externalId, active, removed: removedAt !== null, pending: dueAt !== null };
    return { number, ...state };
  };
  const device = async ({ number, unlocked }: ModelDevice) => {
    const { status, userId, person: owner } = (await store.device(number))!;
    return { number, status, userId, owner, unlocked };
  };
  return { persons: await Promise.all(persons.map(person)), devices: await Promise.all(devices.map(device)) };
}

interface History {
  readonly nodes: readonly Node[];
  readonly store: Store;
  readonly first: number;
  readonly isDelayed: boolean;
  readonly random: () => number;
  readonly tick: () => void;
}

/** Some steps are made at once by two nodes: then one of their orders must explain what was found. */
async function live({ nodes, store, first, isDelayed, random, tick }: History, n: number): Promise<void> {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const devices = Array.from({ length: DEVICES }, (_, i) => {
    return { number: first + i, status: 'INACTIVE', userId: null, owner: null, unlocked: false } as const;
  });
  let state: People = { persons: [], devices };
  const nameIn = () => `${pick(names)}.${n}`;
  const stepIn = (): PersonStep => {
    const device = pick(state.devices).number;
    const create = { kind: 'create', name: nameIn(), externalId: `e${pick([1, 2, 3])}` } as const;
    if (state.persons.length === 0) return random() < 0.5 ? create : { kind: 'activate', device, name: nameIn() };
    const person = pick(state.persons).number;
    const kind = pick([
      'create',
      'rename',
      'rename',
      'leave',
      'remove',
      'back',
      'due',
      'activate',
      'activate',
      'lock',
      'unlock',
      'match',
    ] as const);
    return kind === 'create' ? create : ({ kind, person, device, name: nameIn() } as PersonStep);
  };
  const told: unknown[] = [];
  for (let step = 0; step < STEPS; step++) {
    tick();
    const steps = nodes.length > 1 && random() < 0.4 ? [stepIn(), stepIn()] : [stepIn()];
    const outcomes = await Promise.all(steps.map(one => pick(nodes)(one)));
    told.push(steps.map((one, i) => [one, outcomes[i]]));
    // A change that another node removes the person after is done, and its reply is that the person does not exist.
    const outcomesOf = (i: number): readonly StepOutcome[] =>
      outcomes[i] === 'refused' && steps.some(({ kind }) => kind === 'remove') ? ['refused', null] : [outcomes[i]!];
    const after = (order: readonly number[]) =>
      order.reduce<readonly People[]>(
        (all, i) =>
          all.flatMap(one => outcomesOf(i).flatMap(outcome => personStep(one, steps[i]!, outcome, isDelayed) ?? [])),
        [state],
      );
    const orders =
      steps.length > 1
        ? [
            [0, 1],
            [1, 0],
          ]
        : [[0]];
    const possible = orders.flatMap(after);
    const story = `seed ${seed}, history ${n}: ${JSON.stringify(told)}`;
    expect(possible.length, story).toBeGreaterThan(0);
    const actual = await Promise.all(possible.map(one => found(store, one)));
    const fitting = possible.find((one, i) => JSON.stringify(one) === JSON.stringify(actual[i]));
    if (!fitting) expect(actual[0], story).toEqual(possible[0]);
    state = fitting!;
    expect(usableByLeavers(state), story).toEqual([]);
  }
}

/** Each in the history of its own number, so that a failure can be repeated; several at a time share commits. */
async function liveAll(stores: readonly Store[], isDelayed: boolean, histories: number): Promise<void> {
  let clock = 1_900_000_000_000;
  const [store] = stores;
  const nodes = stores.map(one => nodeOn(one, () => clock));
  const policy = { personsRequired: false, leavers: 'lock', leaverDelayHours: isDelayed ? 10_000 : 0 };
  await new PeoplePolicies({ store: store!, now: () => clock }).set(context, policy as never);
  // The brake compares with them.
  const others = Array.from({ length: OTHERS }, (_, i) => addDevice(`OTHER-${i}`));
  await commit(store!, others, { at: clock });
  const active = others.map((_, i) => setDevice(i + 1, { status: 'ACTIVE', userId: 'other' }));
  await commit(store!, active, { at: clock });
  const tick = () => {
    clock += STEP_MS;
  };
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < histories; n = next++) {
      const added = Array.from({ length: DEVICES }, (_, i) => addDevice(`H-${n}-${i}`));
      const [result] = await commit(store!, added, { at: clock });
      const first = result?.kind === 'added' ? result.number : 0;
      await live({ nodes, store: store!, first, isDelayed, random: mulberry(seed + n), tick }, n);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

describe.each([false, true])('histories of persons, with a delay of leavers: %s', isDelayed => {
  it('on SQLite: no one holds a key of another person, and no one who left an unlocked one', { timeout }, async () => {
    const opened = await openTemporary();
    try {
      await liveAll([opened.store], isDelayed, HISTORIES / 2);
      expect((await opened.verifyJournal()).problems).toEqual([]);
    } finally {
      await opened.cleanup();
    }
  });

  needsPostgres('with three nodes', () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.stop());

    it('on PostgreSQL', { timeout: 2 * timeout }, async () => {
      const opened = await openPostgres(server);
      try {
        await liveAll([opened.store, await opened.openAnother(), await opened.openAnother()], isDelayed, HISTORIES / 2);
      } finally {
        await opened.cleanup();
      }
    });
  });
});
