/** Undoes a batch of changes of a source of persons: leaves, new user names, and which device belongs to whom. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { undoBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { type Context, commitFor, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { EventRecord } from '../store/journal.ts';
import type { Leavers } from './leavers.ts';
import { type ChangedBatch, changedBy } from './undo-batch.ts';
import { type DecidedUndo, UndoDecisions } from './undo-decisions.ts';

/** Entries that are read at a time. */
const PORTION = 1000;

/** Dependencies of the service. */
interface UndoParts extends ServiceParts {
  readonly leavers: Pick<Leavers, 'changes' | 'lockedDevices'>;
}

/** A refusal of the whole request is thrown as an `ApiError`. */
export class UndoingBatches extends Service<UndoParts> {
  /** Each person, account and device is a commit of its own, so a request that was interrupted can be repeated. */
  async run(context: Context, body: Body<'undoPeople'>): Promise<Data<'undoPeople'>> {
    const { after = 0, dryRun = false } = body;
    const batch = changedBy(await this.#entries(body));
    const total = batch.changed.length;
    const end = Math.min(after + undoBounds.portion, total);
    const list = [];
    for (const changed of batch.changed.slice(after, end)) {
      const done = await retrying(async () => {
        const decided = await this.#decisions(context, batch, dryRun).decide(changed);
        if (!dryRun) await this.#commit(context, decided);
        return decided;
      });
      list.push(...done.steps);
    }
    return { total, list, next: end < total ? end : null };
  }

  #decisions(context: Context, batch: ChangedBatch, isDraft: boolean): UndoDecisions {
    // As everywhere, a service token does not change users.
    const mayEnable = context.caller.serviceToken === null;
    return new UndoDecisions({ ...this.parts, batch, isDraft, mayEnable });
  }

  async #commit(context: Context, { before, changes, guards }: DecidedUndo): Promise<void> {
    for (const aside of before) await commitFor(this.store, context, { at: this.now(), changes: aside });
    if (changes.length > 0) await commitFor(this.store, context, { at: this.now(), changes, guards });
  }

  async #entries({ requestId, actor, from, to }: Body<'undoPeople'>): Promise<readonly EventRecord[]> {
    if ((requestId === undefined) === (actor === undefined) || (actor === undefined) !== (from === undefined))
      throw new ApiError(Code.parameterError, 'requestId is required, or actor and from');
    const [head] = await this.store.events({ after: 0, before: Number.POSITIVE_INFINITY, limit: 1 });
    const filter = { requestId, actor, from: from?.getTime(), to: to && to.getTime() - 1 };
    const found: EventRecord[] = [];
    for (let after = Math.max(0, (head?.id ?? 0) - undoBounds.searched); ; ) {
      const events = await this.store.events({ ...filter, after, limit: PORTION });
      found.push(...events);
      if (found.length > undoBounds.entries)
        throw new ApiError(
          Code.parameterError,
          `the batch has more than ${undoBounds.entries} entries. Take it back in parts: set from and to`,
        );
      if (events.length < PORTION) return found;
      after = events.at(-1)!.id;
    }
  }
}
