/**
 * Persons are created, renamed, leave, are removed and come back in random order, and devices are bound, locked and matched: each key stays
 * that of its person, as the model of persons has it.
 */
import { isDeepStrictEqual } from 'node:util';
import { readGroups } from '../../daemon/people/lookups.ts';
import { PeoplePolicies } from '../../daemon/people/policies.ts';
import { addGroup, type GroupsChanged } from '../../daemon/people/policy.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { databaseMaintenance } from '../../daemon/store/postgres/maintenance.ts';
import type { Store } from '../../daemon/store/store.ts';
import { isSameName } from '../../src/contract/person-key.ts';
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
import { openPostgres, type PostgresServer } from '../support/postgres.ts';
import { journalKey, openTemporary } from '../support/sqlite.ts';
import { context, type PersonNode, personNode } from './person-node.ts';

const STEPS = 14;
const DEVICES = 5;
const LANES = 16;
/** ACTIVE devices of which all leavers of a moment have less than 5 %. */
const OTHERS = 2000;
const names = ['ann', 'Ann', 'zoë', 'zoe\u0308', 'ZOË', 'zoe', 'bob'];
const memberships = [[], [1], [2], [1, 2]] as const;
/** So long after each other that the brake holds no one. */
const STEP_MS = 11 * 60_000;

/** The persons and devices of the registry that the model knows. */
async function found(store: Store, { persons, devices }: People): Promise<object> {
  const person = async ({ number }: ModelPerson) => {
    const { userName, active, removedAt, dueAt, externalId, groups } = (await store.person(number))!;
    const state = { groups, name: userName, externalId, active, removed: removedAt !== null, pending: dueAt !== null };
    return { number, ...state };
  };
  const device = async ({ number, unlocked }: ModelDevice) => {
    const { status, userId, person: owner } = (await store.device(number))!;
    return { number, status, userId, owner, unlocked };
  };
  return { persons: await Promise.all(persons.map(person)), devices: await Promise.all(devices.map(device)) };
}

interface History {
  readonly nodes: readonly PersonNode[];
  readonly store: Store;
  readonly first: number;
  readonly isDelayed: boolean;
  readonly random: () => number;
  readonly tick: () => void;
  /** Whether batches are taken back: each looks through the journal. */
  readonly hasUndo: boolean;
  /** The steps and their outcomes until now. */
  readonly told: unknown[];
}

/** Steps of one request are taken back: each person and device is as before. Persons whom the request has added stay. */
async function takenBack({ nodes, store, random, tick, told }: History, before: People, n: number): Promise<People> {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const requestId = `batch ${n} ${told.length}`;
  const added: ModelPerson[] = [];
  const unused = () => `new ${random()}.${n}`;
  for (let step = 0; step < 4; step++) {
    tick();
    const [person, device] = [pick(before.persons).number, pick(before.devices).number];
    const kind = pick(['create', 'rename', 'join', 'leave', 'remove', 'match'] as const);
    const name = `${pick(names)}.${n}`;
    // Such a device would have no person again, beside a person with its name.
    if (kind === 'create' && before.devices.some(({ owner, userId }) => owner === null && isSameName(userId, name)))
      continue;
    // No one is renamed to the name of a removed person, not even back.
    const { name: present } = before.persons.find(({ number }) => number === person)!;
    const others = [...before.persons, ...added].filter(({ number }) => number !== person);
    if (kind === 'rename' && others.some(other => isSameName(other.name, present))) continue;
    const one =
      kind === 'create'
        ? { kind, name, externalId: unused() }
        : ({ kind, person, device, name, groups: pick(memberships) } as PersonStep);
    const outcome = await pick(nodes)(one, requestId);
    told.push([requestId, one, outcome]);
    if (kind === 'create' && typeof outcome === 'number') added.push({ number: outcome, name } as ModelPerson);
  }
  tick();
  const { list } = await pick(nodes).undo(requestId);
  told.push(['undo', list]);
  const actual = (await found(store, before)) as People;
  const persons = before.persons.map(person => ({
    ...person,
    // A removal of someone who had left stays.
    removed: person.active ? false : actual.persons.find(({ number }) => number === person.number)!.removed,
  }));
  const devices = before.devices.map((device, i) => {
    // A device of a person shows the person's spelling of the name after a rename.
    const { userId, status } = actual.devices[i]!;
    const spelled = device.owner !== null && isSameName(userId, device.userId) ? { ...device, userId } : device;
    // A lock of a device of someone who had left before stays.
    const hasLeft = before.persons.some(({ number, active }) => number === device.owner && !active);
    return hasLeft && status === 'LOCKED' ? { ...spelled, status } : spelled;
  });
  const expected = { persons, devices };
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`after an undo it has ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  const again = (await pick(nodes).undo(requestId)).list.filter(({ outcome }) => outcome === 'restored');
  if (again.length > 0) throw new Error(`a repeated undo restores ${JSON.stringify(again)}`);
  const newcomers = ((await found(store, { persons: added, devices: [] })) as People).persons;
  const unlocked = ({ status, unlocked: was }: ModelDevice) => was && status !== 'LOCKED';
  return {
    persons: [...persons, ...newcomers],
    devices: devices.map(device => ({ ...device, unlocked: unlocked(device) })),
  };
}

/** Some steps are made at once by two nodes: then one of their orders must explain what was found. */
async function live(history: History, n: number): Promise<void> {
  const { nodes, store, first, isDelayed, random, tick, told, hasUndo } = history;
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const devices = Array.from({ length: DEVICES }, (_, i) => {
    return { number: first + i, status: 'INACTIVE', userId: null, owner: null, unlocked: false } as const;
  });
  let state: People = { persons: [], devices };
  const nameIn = () => `${pick(names)}.${n}`;
  const stepIn = (): PersonStep => {
    const device = pick(state.devices).number;
    const create = { kind: 'create', name: nameIn(), externalId: `e${pick([1, 2, 3])}.${n}` } as const;
    if (state.persons.length === 0) return random() < 0.5 ? create : { kind: 'activate', device, name: nameIn() };
    const person = pick(state.persons).number;
    const kind = pick([
      'create',
      'rename',
      'rename',
      'join',
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
    return kind === 'create'
      ? create
      : ({ kind, person, device, name: nameIn(), groups: pick(memberships) } as PersonStep);
  };
  for (let step = 0; step < STEPS; step++) {
    if (hasUndo && state.persons.length > 0 && random() < 0.2) {
      state = await takenBack(history, state, n);
      continue;
    }
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
    const actual = await Promise.all(possible.map(one => found(store, one)));
    const fitting = possible.find((one, i) => isDeepStrictEqual(actual[i], one));
    if (!fitting)
      throw new Error(
        `it has ${JSON.stringify(actual[0])}, possible is ${JSON.stringify(possible[0]) ?? 'no such outcome'}`,
      );
    state = fitting;
    const usable = usableByLeavers(state);
    if (usable.length > 0) throw new Error(`leavers can use ${JSON.stringify(usable)}`);
  }
}

/** How many histories are tried, and what they are made of. */
export interface PersonHistories {
  readonly seed: number;
  readonly count: number;
  /** Whether the policy gives leavers a delay. */
  readonly isDelayed: boolean;
}

/** Returns the faults as texts. Each history is made of its own number, so that it can be repeated; several at a time share commits. */
async function tryOn(stores: readonly Store[], { seed, count, isDelayed }: PersonHistories): Promise<string[]> {
  let clock = 1_900_000_000_000;
  const [store] = stores;
  const nodes = stores.map(one => personNode(one, () => clock));
  const policy = { personsRequired: false, leavers: 'lock', leaverDelayHours: isDelayed ? 10_000 : 0 };
  await new PeoplePolicies({ store: store!, now: () => clock }).set(context, policy as never);
  // The brake compares with them.
  const others = Array.from({ length: OTHERS }, (_, i) => addDevice(`OTHER-${i}`));
  await commit(store!, others, { at: clock });
  const active = others.map((_, i) => setDevice(i + 1, { status: 'ACTIVE', userId: 'other' }));
  await commit(store!, active, { at: clock });
  for (const name of ['staff', 'guests']) {
    const added = addGroup(await readGroups(store!), name, null, clock) as GroupsChanged;
    await commit(store!, [added.change], { at: clock });
  }
  const tick = () => {
    clock += STEP_MS;
  };
  const faults: string[] = [];
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < count && faults.length === 0; n = next++) {
      const added = Array.from({ length: DEVICES }, (_, i) => addDevice(`H-${n}-${i}`));
      const [result] = await commit(store!, added, { at: clock });
      const first = result?.kind === 'added' ? result.number : 0;
      const told: unknown[] = [];
      const hasUndo = n % Math.ceil(count / 100) === 0;
      const history = { nodes, store: store!, first, isDelayed, random: mulberry(seed + n), tick, told, hasUndo };
      await live(history, n).catch(error => {
        const story = JSON.stringify(told);
        faults.push(`history ${n} of persons, seed ${seed}, with a delay: ${isDelayed}: ${error.stack}\n${story}`);
      });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return faults;
}

/** On SQLite; the journal must prove each device of a person. */
export async function tryPersons(histories: PersonHistories): Promise<string[]> {
  const opened = await openTemporary();
  try {
    const faults = await tryOn([opened.store], histories);
    return [...faults, ...(await opened.verifyJournal()).problems];
  } finally {
    await opened.cleanup();
  }
}

/** Three nodes on a database of the server; the journal must prove each device of a person. */
export async function tryPersonsOnNodes(server: PostgresServer, histories: PersonHistories): Promise<string[]> {
  const opened = await openPostgres(server);
  try {
    const stores = [opened.store, await opened.openAnother(), await opened.openAnother()];
    const faults = await tryOn(stores, histories);
    const address = { url: server.url(opened.database), env: {} };
    const reader = await databaseMaintenance({
      subjects,
      ...address,
      journalKeys: async () => [journalKey],
    }).openReader();
    return [...faults, ...(await reader.verifyJournal().finally(() => reader.close())).problems];
  } finally {
    await opened.cleanup();
  }
}
