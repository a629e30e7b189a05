/** Applies a plan. Each step reads the registry again before it decides, so that runs of several daemons do not disturb each other. */
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { create, edit, leaverReason } from '../people/decisions.ts';
import { type Leavers, leaverResult } from '../people/leavers.ts';
import { nameTakenBy, readGroups } from '../people/lookups.ts';
import { movedGroups, touchGroups } from '../people/policy.ts';
import { retrying, type ServiceParts } from '../requests/context.ts';
import { type Change, type ChangeResult, Conflict } from '../store/commit.ts';
import { detailsOf, SOURCE } from './decisions.ts';
import { decide, type GroupNumbers, groupsFor, type Plan, type PlannedStep } from './plan.ts';
import type { RunStore } from './trial.ts';

/** Dependencies of the application of a plan. */
interface ApplyParts extends ServiceParts<RunStore> {
  readonly leavers: Leavers;
  readonly numbers: GroupNumbers;
  /** Whether new user names can be held: not if someone has accepted what the directory reports. */
  readonly isBraked: boolean;
  readonly commit: (changes: readonly Change[]) => Promise<readonly ChangeResult[]>;
  readonly signal: AbortSignal;
}

/** Persons of one commit. */
const BATCH = 100;
/** A name that someone gives up within this run is free at the next look. The next run does what is left. */
const LOOKS = 4;
const TAKEN = 'another person has the user name';

/** Marks what could not be done as skipped, and leavers whose devices are held as held. Stops early when the signal is aborted. */
export async function apply(parts: ApplyParts, { items, gone }: Plan): Promise<void> {
  const { signal } = parts;
  for (const item of [...items.filter(({ step }) => step === 'left'), ...gone]) {
    if (signal.aborted) return;
    await leave(parts, item);
  }
  let waiting = items.filter(({ step }) => step === 'changed' || step === 'back');
  for (let look = 1; waiting.length > 0 && look <= LOOKS; look++) {
    if (look > 1) await stepAside(parts, waiting);
    waiting = await inBatches(waiting, signal, batch => change(parts, batch));
  }
  for (const item of waiting) skip(item);
  const added = items.filter(({ step }) => step === 'new');
  for (const item of await inBatches(added, signal, batch => add(parts, batch))) skip(item);
}

function skip(item: PlannedStep): void {
  if (item.step !== 'skipped') Object.assign(item, { step: 'skipped', detail: item.taken ?? TAKEN });
}

/** `run` returns the items of a batch that failed. */
async function inBatches(
  items: readonly PlannedStep[],
  signal: AbortSignal,
  run: (batch: readonly PlannedStep[]) => Promise<PlannedStep[]>,
): Promise<PlannedStep[]> {
  const failed: PlannedStep[] = [];
  for (let at = 0; at < items.length && !signal.aborted; at += BATCH)
    failed.push(...(await run(items.slice(at, at + BATCH))));
  return failed;
}

/** One commit for each leaver: the brake counts what the commits before it have locked. */
async function leave({ store, leavers, numbers, commit }: ApplyParts, item: PlannedStep): Promise<void> {
  const result = await retrying(async () => {
    const person = await store.person(item.number!);
    const decision = person && decide(person, item.entry, numbers);
    if (!person || decision?.step !== 'left') return null;
    const { isRemoved } = decision;
    const step = { step: 'leave', reason: leaverReason(SOURCE), endedBy: 'source', isRemoved } as const;
    return leaverResult(await commit(await leavers.changes([person], step)));
  });
  if (result && result.held.length > 0) item.step = 'held';
}

/** One commit. Persons of the batch, and names that they get, occur once in it. */
async function change(parts: ApplyParts, batch: readonly PlannedStep[]): Promise<PlannedStep[]> {
  const { store, leavers, numbers } = parts;
  const totals = parts.isBraked ? await leavers.totals() : null;
  return retrying(async () => {
    const later: PlannedStep[] = [];
    const touched = new Set<number>();
    const concerned = new Set<number | string>();
    const changes: Change[] = [];
    const changed: PlannedStep[] = [];
    for (const item of batch) {
      const person = await store.person(item.number!);
      const locked = person && !person.active ? await leavers.lockedDevices(person) : [];
      const decision = person && decide(person, item.entry, numbers, locked);
      if (decision?.step === 'skipped') Object.assign(item, { step: 'skipped', detail: decision.why });
      if (!person || !decision || !('change' in decision)) continue;
      const { to = person.userName } = decision.change.renamed ?? {};
      const wanted = [person.number, personKey(to)];
      const taken = await nameTakenBy(store, person, to);
      if (taken !== null || wanted.some(one => concerned.has(one))) {
        item.taken = taken;
        later.push(item);
      } else {
        for (const one of wanted) concerned.add(one);
        changes.push(totals ? { ...decision.change, brake: totals } : decision.change);
        changed.push(item);
        for (const group of movedGroups(person.groups, decision.change.set.groups ?? person.groups)) touched.add(group);
      }
    }
    const results = changes.length > 0 ? await commitWith(parts, touched, changes) : [];
    for (const [i, item] of changed.entries()) if (results[i]?.kind === 'held') item.step = 'held';
    return later;
  });
}

/** Of two persons who swap names, one has its id as name until the other gives up the name. The brake counts that too. */
async function stepAside(parts: ApplyParts, waiting: readonly PlannedStep[]): Promise<void> {
  const { store, commit, leavers, isBraked } = parts;
  const brake = isBraked ? { brake: await leavers.totals() } : {};
  const names = new Map(waiting.map(({ number, entry }) => [number, entry!.userName]));
  for (const [number, name] of names) {
    const [person, other] = await Promise.all([store.person(number!), store.personByName(name)]);
    const back = names.get(other?.number ?? null);
    if (!person || !other || person.number >= other.number || back === undefined || personKey(back) !== person.userKey)
      continue;
    const aside = edit(person, { userName: personIds.format(person.number) });
    if (!aside) continue;
    await commit([{ ...aside, ...brake }]).catch(error => {
      if (!(error instanceof Conflict)) throw error;
    });
  }
}

/** One commit, with the new versions of the groups whose members it changes. */
async function commitWith(
  { store, commit, now }: ApplyParts,
  touched: ReadonlySet<number>,
  changes: readonly Change[],
): Promise<readonly ChangeResult[]> {
  const groups = touched.size > 0 ? touchGroups(await readGroups(store), touched, now()) : [];
  return (await commit([...changes, ...groups])).slice(0, changes.length);
}

async function add(parts: ApplyParts, batch: readonly PlannedStep[]): Promise<PlannedStep[]> {
  const persons = batch.map(({ entry }) => detailsOf(entry!, groupsFor(null, entry!, parts.numbers)));
  const joined = new Set(persons.flatMap(({ groups }) => groups));
  const results = await retrying(() => commitWith(parts, joined, persons.map(create)));
  for (const [i, result] of results.entries()) if (result.kind === 'added') batch[i]!.number = result.number;
  return batch.filter((_, i) => results[i]?.kind !== 'added');
}
