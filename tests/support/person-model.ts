/** The expected persons, names and devices after each step, in a few plain lines. Independent of the registry. */

export interface ModelPerson {
  readonly number: number;
  readonly name: string;
  readonly externalId: string;
  readonly active: boolean;
  readonly removed: boolean;
  /** A delay runs. */
  readonly pending: boolean;
  /** Numbers of groups. */
  readonly groups: readonly number[];
}

export interface ModelDevice {
  readonly number: number;
  readonly status: 'INACTIVE' | 'ACTIVE' | 'LOCKED';
  readonly userId: string | null;
  readonly owner: number | null;
  /** Someone has unlocked it since it was locked last. */
  readonly unlocked: boolean;
}

export interface People {
  readonly persons: readonly ModelPerson[];
  readonly devices: readonly ModelDevice[];
}

export type PersonStep =
  | { readonly kind: 'create'; readonly name: string; readonly externalId: string }
  | { readonly kind: 'rename'; readonly person: number; readonly name: string }
  | { readonly kind: 'join'; readonly person: number; readonly groups: readonly number[] }
  | { readonly kind: 'leave' | 'remove' | 'back' | 'due'; readonly person: number }
  | { readonly kind: 'activate'; readonly device: number; readonly name: string }
  | { readonly kind: 'lock'; readonly device: number }
  | { readonly kind: 'unlock'; readonly device: number }
  | { readonly kind: 'match'; readonly device: number; readonly person: number };

/** The person of a `create`; null for another step that was done, and `refused`. */
export type StepOutcome = number | null | 'refused';

const same = (a: string | null, b: string) =>
  a !== null && a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase();
const changed = <T extends { readonly number: number }>(all: readonly T[], number: number, set: Partial<T>) =>
  all.map(one => (one.number === number ? { ...one, ...set } : one));

/** The state after a step with this outcome; null if the outcome is wrong. `isDelayed`: whether the policy has a delay. */
export function personStep(before: People, step: PersonStep, outcome: StepOutcome, isDelayed: boolean): People | null {
  const after = allowed(before, step, outcome, isDelayed);
  if (after === null) return outcome === 'refused' ? before : null;
  return outcome === 'refused' ? null : after;
}

/** Null if the step must be refused. */
function allowed(
  { persons, devices }: People,
  step: PersonStep,
  outcome: StepOutcome,
  isDelayed: boolean,
): People | null {
  if (step.kind === 'create') return created({ persons, devices }, step, outcome);
  if (step.kind === 'activate') {
    const holder = holderOf(persons, step.name);
    if (holder?.active === false || devices.find(({ number }) => number === step.device)!.status !== 'INACTIVE')
      return null;
    const set = { status: 'ACTIVE', userId: step.name, owner: holder?.number ?? null } as const;
    return { persons, devices: changed(devices, step.device, set) };
  }
  if (step.kind === 'lock' || step.kind === 'unlock') {
    const [from, to] = step.kind === 'lock' ? (['ACTIVE', 'LOCKED'] as const) : (['LOCKED', 'ACTIVE'] as const);
    if (devices.find(({ number }) => number === step.device)!.status !== from) return null;
    return { persons, devices: changed(devices, step.device, { status: to, unlocked: to === 'ACTIVE' }) };
  }
  const person = persons.find(({ number }) => number === step.person)!;
  if (step.kind === 'match') return matched({ persons, devices }, step.device, person);
  if (step.kind === 'due') return person.pending ? ended({ persons, devices }, person, {}) : { persons, devices };
  // Two nodes may remove a person at once.
  if (person.removed && (step.kind !== 'remove' || outcome !== null)) return null;
  if (step.kind === 'rename') return renamed({ persons, devices }, person, step.name);
  if (step.kind === 'join') return { persons: changed(persons, person.number, { groups: step.groups }), devices };
  if (step.kind === 'back')
    return { persons: changed(persons, person.number, { active: true, pending: false }), devices };
  const gone = step.kind === 'remove' ? { removed: true } : {};
  const waits = isDelayed && (person.active || person.pending);
  if (!waits) return ended({ persons, devices }, person, gone);
  return { persons: changed(persons, person.number, { ...gone, active: false, pending: true }), devices };
}

function created(
  { persons, devices }: People,
  step: PersonStep & { kind: 'create' },
  outcome: StepOutcome,
): People | null {
  const { name, externalId } = step;
  const named = persons.filter(person => same(person.name, name));
  if (named.some(({ removed }) => !removed)) return null;
  const former = named.findLast(person => person.externalId === externalId);
  if (former) {
    if (outcome !== former.number) return null;
    const back = { active: true, removed: false, pending: false };
    return renamed({ persons: changed(persons, former.number, back), devices }, { ...former, ...back }, name);
  }
  if (typeof outcome !== 'number' || persons.some(({ number }) => number === outcome)) return null;
  const person = { number: outcome, name, externalId, active: true, removed: false, pending: false, groups: [] };
  const isBound = (device: ModelDevice) => named.length === 0 && device.owner === null && same(device.userId, name);
  return {
    persons: [...persons, person],
    devices: devices.map(device => (isBound(device) ? { ...device, owner: outcome } : device)),
  };
}

function renamed({ persons, devices }: People, person: ModelPerson, name: string): People | null {
  const others = persons.some(other => other.number !== person.number && same(other.name, name));
  const unmatched = devices.some(({ owner, userId }) => owner === null && same(userId, name));
  if (!same(person.name, name) && (others || unmatched)) return null;
  const isOwn = ({ owner }: ModelDevice) => owner === person.number && person.name !== name;
  return {
    persons: changed(persons, person.number, { name }),
    devices: devices.map(device => (isOwn(device) ? { ...device, userId: name } : device)),
  };
}

const holderOf = (persons: readonly ModelPerson[], name: string): ModelPerson | undefined => {
  const named = persons.filter(person => same(person.name, name));
  return named.find(({ removed }) => !removed) ?? named.at(-1);
};

/** Every ACTIVE device of the person is locked, and those without a person that have the name. */
function ended({ persons, devices }: People, person: ModelPerson, set: Partial<ModelPerson>): People {
  const isHolder = holderOf(persons, person.name)?.number === person.number;
  const lock = (device: ModelDevice): ModelDevice => {
    const isNamed = isHolder && device.owner === null && same(device.userId, person.name);
    if (device.status !== 'ACTIVE' || !(isNamed || device.owner === person.number)) return device;
    const bound = isNamed ? { owner: person.number, userId: person.name } : {};
    return { ...device, ...bound, status: 'LOCKED', unlocked: false };
  };
  return {
    persons: changed(persons, person.number, { ...set, active: false, pending: false }),
    devices: devices.map(lock),
  };
}

function matched({ persons, devices }: People, number: number, person: ModelPerson): People | null {
  const device = devices.find(one => one.number === number)!;
  if (device.userId === null || (device.owner !== null && device.owner !== person.number)) return null;
  if (device.owner !== null) return { persons, devices };
  const isLocked = device.status === 'ACTIVE' && !person.active && !person.pending;
  const set = {
    owner: person.number,
    userId: person.name,
    ...(isLocked ? { status: 'LOCKED' as const, unlocked: false } : {}),
  };
  return { persons, devices: changed(devices, number, set) };
}

/** Devices that someone who has left can use, although no delay runs and no one has unlocked them. */
export const usableByLeavers = ({ persons, devices }: People): readonly ModelDevice[] =>
  devices.filter(({ owner, status, unlocked }) => {
    const person = persons.find(({ number }) => number === owner);
    return status === 'ACTIVE' && person && !person.active && !person.pending && !unlocked;
  });
