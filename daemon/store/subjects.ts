import type { SealedNames } from './chain.ts';
import type { Change, Guard } from './commit.ts';
import { own } from './own.ts';
import type { Reads, RecordQueries } from './read/records.ts';
import type { SqliteSubject } from './sqlite/subject.ts';
import type { CommitNotice } from './store.ts';
import type { Subject, SubjectEngines } from './subject.ts';
import type { AnyTable } from './table.ts';
import { Documents, type ReplacedKind } from './write/documents.ts';
import type { Draft } from './write/draft.ts';
import type { RowComparison } from './write/replay.ts';
import {
  type CallerRule,
  type ChangeAddition,
  type ChangeAdditions,
  type ChangeRule,
  type GuardRule,
  withAdditions,
} from './write/rule.ts';
import type { AnyLookup } from './write/source.ts';

/** Everything that the subjects state, put together once. */
export class Subjects {
  readonly all: readonly Subject[];
  readonly tables: readonly AnyTable[];
  readonly replaced: readonly ReplacedKind[];
  readonly kept: ReadonlySet<AnyLookup>;
  readonly rare: ReadonlySet<AnyLookup>;
  readonly rightsIn: ReadonlySet<string>;
  readonly caller: CallerRule;
  // biome-ignore lint/suspicious/noExplicitAny: comparisons of all tables are in one list
  readonly comparisons: readonly RowComparison<any>[];
  /** Absent: no entry has sealed names. */
  readonly names: SealedNames | undefined;
  readonly faults: readonly string[];
  readonly inSqlite: readonly SqliteSubject[];
  readonly #loaded = new Map<keyof SubjectEngines, readonly unknown[]>();
  readonly #changes: ReadonlyMap<string, ChangeRule<Change>>;
  readonly #guards: ReadonlyMap<string, GuardRule<Guard>>;

  /** Throws if two subjects state the same, or none states what there must be. */
  constructor(stated: readonly Subject[]) {
    const all: readonly Subject[] = [...stated, own];
    this.all = all;
    const of = <K extends keyof Subject>(key: K) => all.flatMap(one => (one[key] === undefined ? [] : [one[key]]));
    this.tables = of('tables').flat();
    this.replaced = of('replaced').flat();
    this.kept = new Set(of('kept').flat());
    this.rare = new Set(of('rare').flat());
    this.rightsIn = new Set(of('rightsIn').flat());
    this.caller = only('caller', of('caller'));
    this.inSqlite = of('sqlite');
    this.comparisons = of('comparisons').flat();
    this.faults = of('faults').flat();
    this.names = of('names').length === 0 ? undefined : only('names', of('names'));
    this.#changes = added(byKind('change', of('changes')), of('additions'));
    this.#guards = byKind('guard', of('guards'));
  }

  ruleOf(change: Change): ChangeRule<Change> {
    return this.#changes.get(change.kind) ?? unknown('change', change);
  }

  guardOf(guard: Guard): GuardRule<Guard> {
    return this.#guards.get(guard.kind) ?? unknown('guard', guard);
  }

  /** To be called before an engine is used that is loaded on demand. */
  async load(engine: keyof SubjectEngines): Promise<void> {
    const ofEngine = this.all.map((one): (() => Promise<unknown>) | undefined => one[engine]);
    this.#loaded.set(engine, await Promise.all(ofEngine.flatMap(load => (load ? [load()] : []))));
  }

  /** The statements of subjects for an engine; empty until `load`. */
  stated<E extends keyof SubjectEngines>(engine: E): readonly SubjectEngines[E][] {
    return (this.#loaded.get(engine) ?? []) as SubjectEngines[E][];
  }

  /** The notice of a transaction to listeners. */
  noticeOf(draft: Draft): CommitNotice {
    const changed = [...(draft.made(Documents)?.changed.keys() ?? [])];
    return Object.assign(
      { lastEventId: draft.lastEventId, users: [], serviceTokens: [] },
      ...this.all.map(one => one.notice?.(draft)),
      changed.some(name => this.rightsIn.has(name)) ? { everything: true } : {},
    );
  }

  reads(queries: RecordQueries): Partial<Reads> {
    return Object.assign({}, ...this.all.map(one => one.reads?.(queries)));
  }
}

function only<T>(what: string, stated: readonly T[]): T {
  if (stated.length !== 1) throw new Error(`${stated.length} subjects state "${what}", one must`);
  return stated[0]!;
}

function byKind<R>(what: string, stated: readonly { readonly [kind: string]: R }[]): ReadonlyMap<string, R> {
  const rules = new Map<string, R>();
  for (const [kind, rule] of stated.flatMap(Object.entries<R>)) {
    if (rules.has(kind)) throw new Error(`two subjects state the ${what} ${kind}`);
    rules.set(kind, rule);
  }
  return rules;
}

/** The rules with the additions to them. */
function added(
  rules: ReadonlyMap<string, ChangeRule<Change>>,
  additions: readonly ChangeAdditions[],
): ReadonlyMap<string, ChangeRule<Change>> {
  const whole = new Map(rules);
  for (const kind of new Set(additions.flatMap(Object.keys)) as Set<Change['kind']>) {
    const toKind = additions.flatMap(one => (one[kind] ? [one[kind] as ChangeAddition<Change>] : []));
    const rule = rules.get(kind);
    // Without the subject of the change there is nothing to add to.
    if (rule) whole.set(kind, withAdditions(rule, toKind));
  }
  return whole;
}

function unknown(what: string, { kind }: { readonly kind: string }): never {
  throw new Error(`no subject states the ${what} ${kind}`);
}
