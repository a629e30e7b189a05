/**
 * The bench of this tab: it continues while the person looks at other pages, and after a reload. Nothing is decided before the operator does
 * something, so the state machine is loaded then.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Key } from '../../../src/contract/hardware.ts';
import type { LineEvent } from '../../../src/enrollment/line/events.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { bench as benchWords } from '../../text/words.ts';
import type { BenchView } from './bench-view.ts';
import type { IssueChoice } from './results.ts';
import type { BenchRun } from './run.ts';
import type { Shown } from './shown.ts';
import type { StartedRun } from './start-run.ts';
import { tabStore } from './store.ts';

type BenchStep = (run: BenchRun) => void;

/** A run that is loaded when the first key is plugged in, a key of the keyboard or the pointer is pressed, or there is something to continue. */
export class Bench {
  readonly view: ReadonlySignal<BenchView>;
  readonly shown: ReadonlySignal<Shown>;
  /** Set if the daemon no longer has the rest of this page. */
  readonly hasFailed = signal(false);
  /** Whether the first characters of a scan have come. */
  isTyping: () => boolean = () => false;
  readonly #userId: string;
  readonly #started = signal<StartedRun | null>(null);
  /** The keys that were plugged in before the run was loaded. */
  readonly #before = signal<readonly Key[]>([]);
  /** What has happened while the run is being loaded; null before, and after a failure. */
  #steps: BenchStep[] | null = null;

  constructor(userId: string) {
    this.#userId = userId;
    this.view = computed(() => this.#started.value?.run.view.value ?? viewOf(this.#before.value));
    this.shown = computed(() => this.#started.value?.shownOf(this.view.value) ?? shownBefore(this.view.value));
    if (tabStore(userId).read() !== null) this.prepare();
  }

  /** Loads the run, unless that was done. After a failure, loads it again; what happened in the meantime is not repeated, except for the keys. */
  prepare(): void {
    if (this.#steps !== null || this.#started.peek() !== null) return;
    this.hasFailed.value = false;
    this.#steps = this.#before.peek().map(key => run => run.plugged(key, false));
    import('./start-run.ts').then(
      ({ startRun }) => this.#begin(startRun(this.#userId)),
      () => {
        this.#steps = null;
        this.hasFailed.value = true;
      },
    );
  }

  readonly begin = (people: readonly Person[] | null): void => this.#decide(run => run.begin(people));
  readonly issueAt = (choice: IssueChoice | null): void => this.#decide(run => run.issueAt(choice));
  readonly clear = (): void => this.#decide(run => run.clear());
  readonly ignore = (keyId: string): void => this.#decide(run => run.ignore(keyId));
  readonly take = (event: LineEvent): void => this.#decide(run => run.take(event));

  /** As `BenchRun.plugged`. One key that was there before needs no decision; two of them do. */
  plugged(key: Key, isSeen: boolean): void {
    const others = this.#before.peek().filter(({ keyId }) => keyId !== key.keyId);
    const canWait = this.#isIdle && !isSeen && others.length === 0;
    if (!canWait) this.#decide(run => run.plugged(key, isSeen));
    this.#before.value = [...others, key];
  }

  pulled(keyId: string, isSeen: boolean): void {
    this.#before.value = this.#before.peek().filter(key => key.keyId !== keyId);
    const isTyping = this.isTyping();
    if (!this.#isIdle) this.#decide(run => run.pulled(keyId, isSeen, isTyping));
  }

  suspend(): void {
    if (!this.#isIdle) this.#decide(run => run.suspend());
  }

  lost(): void {
    if (!this.#isIdle) this.take({ type: 'lost' });
  }

  keepOnly(keyIds: ReadonlySet<string>): void {
    const kept = new Set(keyIds);
    this.#before.value = this.#before.peek().filter(({ keyId }) => kept.has(keyId));
    if (!this.#isIdle) this.#decide(run => run.keepOnly(kept));
  }

  /** Whether nothing has happened yet that the run has to know. */
  get #isIdle(): boolean {
    return this.#steps === null && this.#started.peek() === null;
  }

  #decide(step: BenchStep): void {
    const started = this.#started.peek();
    if (started === null) {
      this.prepare();
      this.#steps?.push(step);
    } else step(started.run);
  }

  #begin(started: StartedRun): void {
    for (const step of this.#steps ?? []) step(started.run);
    this.#steps = null;
    this.#started.value = started;
  }
}

/** What the run shows before anyone was called: at most one key, and it is not known for whom. */
const viewOf = (keys: readonly Key[]): BenchView => ({
  phase: keys.length ? 'aside' : 'empty',
  person: null,
  isHeld: false,
  done: 0,
  outcome: null,
  said: null,
  keys,
  ignored: 0,
  roster: null,
  waiting: { first: [], count: 0 },
  results: [],
  startedAt: 0,
  issue: null,
  isIssuing: false,
  asked: null,
});

function shownBefore({ keys }: BenchView): Shown {
  const { wait, asideOpen, emptyOpen } = benchWords.stage;
  return keys.length
    ? { tone: 'warn', word: wait, lines: [asideOpen] }
    : { tone: 'idle', word: null, lines: [emptyOpen] };
}

let current: { readonly userId: string; readonly bench: Bench } | null = null;

/** The bench of a person who is signed in. That of another person is not continued. */
export function benchOf(userId: string): Bench {
  if (current?.userId !== userId) current = { userId, bench: new Bench(userId) };
  return current.bench;
}
