/** The changes, guards and entries of rows that are replaced as a whole: documents, the progress of webhooks, and sessions of single sign-on. */
import { documentDigest } from '../../domain/digest.ts';
import type { DocumentGuard, DocumentRecord, DocumentSet } from '../../domain/document.ts';
import { numberOfSource, type RefusedAdd, type RefusedRow, withRefusals } from '../../domain/refused.ts';
import { SESSIONS, type SsoSessionsRow, type SsoSessionsSet } from '../../domain/sso.ts';
import type { WebhookChange } from '../../domain/webhook.ts';
import { Conflict } from '../commit.ts';
import type { Field, Lookup, StoreTable } from '../table.ts';
import {
  documentVersion,
  type LeaverRow,
  leaverCounts,
  type ProgressRow,
  refusedRequests,
  ssoSessions,
  webhookProgress,
} from '../tables.ts';
import type { Part } from './draft.ts';
import { digestIn, RowReplay } from './replay.ts';
import { type ChangeRules, done, type GuardRules } from './rule.ts';
import type { Source } from './source.ts';

/** Rows that a transaction replaces as a whole. `S`: what is read of a row. */
// biome-ignore lint/suspicious/noExplicitAny: engines write rows of all kinds alike
export abstract class ReplacedRows<K extends string | number = any, R extends object = any, S extends Field<R> = any>
  implements Part
{
  /** By key; null if it is removed. */
  readonly changed = new Map<K, R | null>();
  readonly #source: Source;
  protected abstract readonly lookup: Lookup<R, S>;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The row, as the transaction leaves it; undefined or null if there is none. */
  row(key: K): Pick<R, S> | null | undefined {
    const changed = this.changed.get(key);
    return changed === undefined ? this.#source.find(this.lookup, key)[0] : changed;
  }

  get table(): StoreTable<R> {
    return this.lookup.table;
  }

  get isEmpty(): boolean {
    return this.changed.size === 0;
  }
}

/** Rows with a version, which starts at 1 and rises by 1 with each change. */
abstract class Versions<K extends string | number, R extends { readonly version: number }> extends ReplacedRows<
  K,
  R,
  'version' & Field<R>
> {
  /** The version of a row; 0 if there is no row. */
  version(key: K): number {
    return this.row(key)?.version ?? 0;
  }
}

/** The documents that a transaction replaces. */
export class Documents extends Versions<string, DocumentRecord> {
  protected readonly lookup = documentVersion;
}

const progressVersion: Lookup<ProgressRow, 'version'> = { ...webhookProgress.byKey, select: ['version'] };

/** The progresses that a transaction replaces or removes. */
class WebhookProgress extends Versions<number, ProgressRow> {
  protected readonly lookup = progressVersion;
}

const sessionsVersion: Lookup<SsoSessionsRow, 'version'> = { ...ssoSessions.byKey, select: ['version'] };

/** The sessions of users that a transaction replaces. */
class SsoSessions extends Versions<number, SsoSessionsRow> {
  protected readonly lookup = sessionsVersion;
}

/** What leavers did within the last minutes: one row. */
export class LeaverWindow extends ReplacedRows<number, LeaverRow, Field<LeaverRow>> {
  protected readonly lookup = leaverCounts.byKey;
}

/** What each source sent and could not be stored. */
class RefusedRequests extends ReplacedRows<number, RefusedRow, Field<RefusedRow>> {
  protected readonly lookup = refusedRequests.byKey;
}

/** All of them: engines write them alike. */
export const replacedRows = [Documents, WebhookProgress, LeaverWindow, SsoSessions, RefusedRequests] as const;

const otherVersion = (name: string) => `the document ${name} has another version now`;

export const documentChanges: ChangeRules<(DocumentSet | WebhookChange | SsoSessionsSet | RefusedAdd)['kind']> = {
  'document.set': {
    needs: ({ name }, wanted) => wanted.add(documentVersion, name),
    check(draft, { name, before }) {
      if (draft.part(Documents).version(name) !== before) throw new Conflict(otherVersion(name));
    },
    apply(draft, { name, before, value, entry }, context) {
      draft.part(Documents).changed.set(name, { name, version: before + 1, value });
      draft.enter(context, entry, null, null);
      if (name === SESSIONS) draft.concernsEveryone();
      return done;
    },
  },
  'webhook.progress': {
    needs: ({ webhook }, wanted) => wanted.add(progressVersion, webhook),
    check(draft, { webhook, before }) {
      if (draft.part(WebhookProgress).version(webhook) !== before)
        throw new Conflict(`the progress of webhook ${webhook} has another version now`);
    },
    apply(draft, { webhook: number, before, progress }) {
      draft.part(WebhookProgress).changed.set(number, { number, version: before + 1, progress });
      return done;
    },
  },
  'webhook.forget': {
    apply(draft, { webhook }) {
      draft.part(WebhookProgress).changed.set(webhook, null);
      return done;
    },
  },
  'sso.sessions': {
    needs: ({ user }, wanted) => wanted.add(sessionsVersion, user),
    check(draft, { user, before }) {
      if (draft.part(SsoSessions).version(user) !== before)
        throw new Conflict(`the sessions of user ${user} have another version now`);
    },
    apply(draft, { user: number, before, sessions }) {
      draft.part(SsoSessions).changed.set(number, { number, version: before + 1, sessions });
      return done;
    },
  },
  'refused.add': {
    needs: ({ source }, wanted) => wanted.add(refusedRequests.byKey, numberOfSource(source)),
    apply(draft, change, context) {
      const kept = draft.part(RefusedRequests);
      const { row, entry } = withRefusals(kept.row(numberOfSource(change.source)), change, context.at);
      kept.changed.set(row.number, row);
      if (entry) draft.enter(context, entry, null, null);
      return done;
    },
  },
};

export const documentGuards: GuardRules<DocumentGuard['kind']> = {
  document: {
    needs: ({ name }, wanted) => wanted.add(documentVersion, name),
    broken: (draft, { name, version }) => (draft.part(Documents).version(name) === version ? null : otherVersion(name)),
  },
};

type ComparedDocument = Pick<DocumentRecord, 'name' | 'value'>;

/** The documents as the journal records that they are. */
export const documentReplay = () =>
  new RowReplay<string, ComparedDocument, string>({
    table: 'document',
    fields: ['name', 'value'],
    key: ({ name }) => name,
    said: digestIn('documentDigest'),
    found: ({ value }) => documentDigest(value),
    nameOf: name => `the document ${name}`,
  });
