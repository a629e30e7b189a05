/** The operations on the cases of persons who have left. */
import { ApiError } from '../../src/contract/codes.ts';
import { personIds } from '../../src/contract/ids.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import { iso, isoOrNull } from '../base/time.ts';
import {
  accept,
  actorOf,
  type Context,
  commitLast,
  retrying,
  Service,
  type ServiceParts,
} from '../requests/context.ts';
import { readPage } from '../store/page.ts';
import type { Window } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import { type CaseStore, itemsOf } from './case-items.ts';
import * as domain from './case-records.ts';
import { requirePerson } from './lookups.ts';
import type { PersonRecord } from './records.ts';

type Shown = Data<'showCase'>;

/** A case, its person, and its items. */
interface ReadCase {
  readonly person: PersonRecord;
  readonly record: domain.CaseRecord;
  readonly items: readonly domain.CaseItem[];
}

/** A refusal is thrown as an `ApiError`. */
export class Cases extends Service<ServiceParts<Store & CaseStore>> {
  /** The oldest first. */
  list({ open = true, sortOrder = 'asc', ...page }: Query<'listCases'>): Promise<Data<'listCases'>> {
    const read = async (window: Window) => {
      const [records, total] = await Promise.all([
        this.store.leaverCases(open, window),
        this.store.leaverCaseCount(open),
      ]);
      return { rows: await Promise.all(records.map(record => this.#listed(record))), total };
    };
    return readPage({ ...page, sortOrder }, read);
  }

  async show(personId: string): Promise<Shown> {
    return shown(await this.#find(personId));
  }

  keep(context: Context, personId: string, { kind, id, reason }: Body<'keepCaseItem'>): Promise<Shown> {
    return this.#change(context, personId, ({ record, items }) =>
      domain.keep(record, items, { kind, id, reason, by: actorOf(context), at: this.now() }),
    );
  }

  close(context: Context, personId: string): Promise<Shown> {
    return this.#change(context, personId, ({ record, items, person }) => domain.close(record, items, person));
  }

  /** The open cases that were opened until this time, the oldest first. */
  async *openBefore(time: number): AsyncGenerator<ReadCase, void> {
    for (let offset = 0; ; ) {
      const window = { descending: false, offset, limit: PORTION };
      const records = await this.store.leaverCases(true, window);
      for (const record of records) {
        if (record.openedAt > time) return;
        yield this.#read((await this.store.person(record.number))!, record);
      }
      if (records.length < PORTION) return;
      offset += PORTION;
    }
  }

  /** A closed case stays as it is. */
  #change(
    context: Context,
    personId: string,
    decide: (read: ReadCase) => domain.CaseSet | Parameters<typeof accept>[0],
  ): Promise<Shown> {
    return retrying(async () => {
      const read = await this.#find(personId);
      if (read.record.closedAt !== null) return shown(read);
      const change = accept(decide(read)) as domain.CaseSet;
      const at = this.now();
      const record = { ...read.record, ...change.set, ...(change.closes && { closedAt: at }) };
      const items = domain.decided(read.items, record.kept);
      return commitLast(this.store, context, { at, changes: [change] }, () => shown({ ...read, record, items }));
    });
  }

  async #find(personId: string): Promise<ReadCase> {
    const person = await requirePerson(this.store, personId);
    const record = await this.store.leaverCase(person.number);
    if (!record)
      throw new ApiError(
        404,
        person.active
          ? 'this person has no case, because the person has not left'
          : 'this person has no case, because the leave is older than cases; devmgr people leave opens one',
      );
    return this.#read(person, record);
  }

  async #read(person: PersonRecord, record: domain.CaseRecord): Promise<ReadCase> {
    return { person, record, items: await itemsOf(this.store, { record, person, now: this.now() }) };
  }

  async #listed(record: domain.CaseRecord) {
    const person = (await this.store.person(record.number))!;
    const { items } = await this.#read(person, record);
    const open = items.filter(({ state }) => state === 'open');
    return {
      personId: personIds.format(person.number),
      userName: person.userName,
      name: person.name,
      opened: iso(record.openedAt),
      closed: isoOrNull(record.closedAt),
      open: open.length,
      kept: items.filter(({ state }) => state === 'kept').length,
      next: open[0] ?? null,
    };
  }
}

/** Cases that are read at a time. */
const PORTION = 100;

const shown = ({ record, items }: ReadCase): Shown => ({
  opened: iso(record.openedAt),
  closed: isoOrNull(record.closedAt),
  items: items.map(({ kind, id, state, reason }) => ({ kind, id, state, reason })),
});
