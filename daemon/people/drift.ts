/** Compares persons who came over SCIM with the users of the providers, because a request that ends someone may never have arrived. */
import { dayMs, minuteMs } from '../../src/contract/durations.ts';
import { personIds } from '../../src/contract/ids.ts';
import { driftBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { sleep } from '../../src/delivery/wait.ts';
import type { DueTask } from '../background/due-work.ts';
import { iso } from '../base/time.ts';
import { type Context, commitFor, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { leaverReason } from './decisions.ts';
import { driftDoubt, driftIn, type PersonReader, RemotePersons, readDrift, recordDrift } from './drift-records.ts';
import { type Leavers, leaverResult, personPortions } from './leavers.ts';
import type { PersonRecord } from './records.ts';

type Drift = Data<'comparePeople'>;
type Step = Drift['list'][number];

interface DriftParts extends ServiceParts {
  readonly leavers: Pick<Leavers, 'changes'>;
  readonly readers: () => Promise<readonly PersonReader[]>;
  readonly log: { warn(data: object, message: string): void };
}

const SOURCE = 'scim';

export class ProviderDrift extends Service<DriftParts> {
  /** With `apply`, each person leaves in a commit of its own: the brake counts what the commits before it have locked. */
  async compare(context: Context, { apply = false }: Body<'comparePeople'>): Promise<Drift> {
    const { steps, ...found } = await this.#find();
    for (const step of apply ? steps : []) step.outcome = await this.#leave(context, step.person);
    const active = steps.filter(({ outcome }) => outcome === 'active');
    if (found.providers.length > 0) await this.#record(found.problem, active);
    return shown(found, steps);
  }

  /** Compares, if a day has passed. */
  async daily(): Promise<void> {
    const { readers, log } = this.parts;
    const last = driftIn(await readDrift(this.store));
    if ((last && this.now() < last.at + dayMs) || (await readers()).length === 0) return;
    const { problem, steps } = await this.#find();
    await this.#record(problem, steps);
    if (problem !== null) log.warn({ problem }, 'persons were not compared with their provider');
  }

  async #find() {
    const all = await this.parts.readers();
    const base = { readAt: iso(this.now()), providers: all.map(({ name }) => name), read: 0, unknown: 0 };
    const none = (problem: string) => ({ ...base, problem, steps: [] as DriftStep[] });
    if (all.length === 0) return none('no provider of type entra or okta can be read');
    const users = [];
    for (const { name, read } of all) {
      try {
        users.push(...(await read()));
      } catch (error) {
        return none(`${name} cannot be read: ${(error as Error).message}`);
      }
    }
    const remote = new RemotePersons(users);
    const steps: DriftStep[] = [];
    let known = 0;
    for await (const persons of personPortions(this.store, {}))
      for (const person of persons) {
        const why = remote.compare(person);
        if (person.source !== SOURCE || !person.active) continue;
        known++;
        if (why !== null) steps.push({ person, why, outcome: 'active' });
      }
    const gone = steps.filter(({ why }) => why === 'gone').length;
    const problem = driftDoubt(users.length, known, known - gone);
    const figures = { ...base, read: users.length, unknown: remote.unknown };
    return problem === null ? { ...figures, problem, steps } : { ...figures, problem, steps: [] as DriftStep[] };
  }

  async #leave(context: Context, { number }: PersonRecord): Promise<Step['outcome']> {
    return retrying(async () => {
      const person = (await this.store.person(number))!;
      if (!person.active) return 'left';
      const step = { step: 'leave', reason: leaverReason(SOURCE), endedBy: 'source' } as const;
      const results = await commitFor(this.store, context, {
        at: this.now(),
        changes: await this.parts.leavers.changes([person], step),
      });
      const { dueAt, accounts } = leaverResult(results);
      if (dueAt !== null) return 'due';
      return accounts ? 'left' : 'held';
    });
  }

  async #record(problem: string | null, steps: readonly DriftStep[]): Promise<void> {
    await retrying(async () => {
      const before = await readDrift(this.store);
      // What was found stays known while a provider cannot be read.
      const persons =
        problem === null
          ? steps.slice(0, driftBounds.shown).map(({ person }) => person.number)
          : (driftIn(before)?.persons ?? []);
      const change = recordDrift(before, { at: this.now(), problem, persons });
      await this.store.commit({ at: this.now(), actor: null, requestId: null, changes: [change] });
    });
  }
}

interface DriftStep {
  readonly person: PersonRecord;
  readonly why: Step['why'];
  outcome: Step['outcome'];
}

const shown = (found: Omit<Drift, 'total' | 'list'>, steps: readonly DriftStep[]): Drift => ({
  ...found,
  total: steps.length,
  list: steps.slice(0, driftBounds.shown).map(({ person, why, outcome }) => ({
    personId: personIds.format(person.number),
    userName: person.userName,
    why,
    outcome,
  })),
});

/** Once a day. */
export const dailyDrift = (drift: Pick<ProviderDrift, 'daily'>): DueTask => ({
  work: 'drift',
  undone: 'persons were not compared with their provider',
  look: async () => {
    await drift.daily();
    return false;
  },
  wait: turn => sleep(10 * minuteMs, turn),
});
