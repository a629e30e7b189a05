/** An operator at the screen of `devmgr enroll --roster`, who knows for whom each key is without reading it from the screen. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { BoxKey } from './box.ts';
import type { Bench } from './harness.ts';
import { listedAt } from './kernel.ts';
import type { KeySpec } from './key-models.ts';
import { Screen, startAtTerminal } from './program.ts';

const INTERRUPTED = 130;
const PROMPT = /^\[\d+ of \d+\] .* \((\S+)\)$/;
/** On a busy machine a key does not answer in time: it is reported without its serial number. */
const UNREAD = '\\(no readable serial\\)';
const resultOf = ({ serial }: BoxKey): RegExp =>
  new RegExp(`^\\s*(✓ bound .*${serial}|✗ FAIL .*(${serial}|${UNREAD}))`);
/** How often a key is plugged in again because it did not answer in time. */
const MORE = 3;

/** A key that has passed. */
interface Passed {
  /** Its id at the bench: another one if it was plugged in again. */
  readonly id: number;
  /** Milliseconds since 1970 at which that was shown. */
  readonly at: number;
}

/** Plugs keys in and out, and waits for what `devmgr watch` shows of it. */
export class WatchedBench {
  readonly #bench: Bench;
  readonly #watched: Screen;
  /** By id of a key: how many lines `devmgr watch` had printed when it was plugged in. */
  readonly #pluggedAt = new Map<number, number>();
  /** Number of pluggings. */
  count = 0;

  constructor(bench: Bench, watched: Screen) {
    this.#bench = bench;
    this.#watched = watched;
  }

  /** The id of the key at the bench. */
  async plug(spec: KeySpec): Promise<number> {
    this.count += 1;
    const from = this.#watched.lines.length;
    const { id } = await this.#bench.plug(spec);
    this.#pluggedAt.set(id, from);
    return id;
  }

  /** Plugs a key in, and waits until it is reported. A null serial number means a key without one. */
  async attach(spec: KeySpec, serial: string | null): Promise<number> {
    const reported = this.#until('KEY_ATTACHED', serial, text => isOf(text, serial) || isOf(text, null));
    const id = await this.plug(spec);
    await reported;
    return id;
  }

  /** Waits until the unplugging is reported: with the serial number if the key was reported with it. */
  async unplug(id: number, serial: string | null): Promise<void> {
    const from = this.#pluggedAt.get(id)!;
    const wasRead = () =>
      this.#watched.texts.slice(from).some(text => text.includes('KEY_ATTACHED') && isOf(text, serial));
    const reported = this.#until(
      'KEY_DETACHED',
      serial,
      text => isOf(text, serial) || (isOf(text, null) && !wasRead()),
    );
    await this.#bench.unplug(id);
    await reported;
  }

  /** For what is not reported. */
  async unplugUnseen(id: number): Promise<void> {
    await this.#bench.unplug(id);
  }

  #until(type: string, serial: string | null, isIt: (text: string) => boolean): Promise<number> {
    const from = this.#watched.lines.length;
    return this.#watched.until(`${type} of ${serial}`, text => text.includes(type) && isIt(text), from);
  }
}

const isOf = (text: string, serial: string | null): boolean =>
  text.includes(`"serialNumber":${JSON.stringify(serial)}`);

export class Operator {
  /** Milliseconds from the kernel's listing of a key to PASS: the first of each model in a process, and the others. */
  readonly firstPasses: number[] = [];
  readonly passes: number[] = [];
  /** Milliseconds from pulling a key, or Enter, to the line that names its person. */
  readonly bindings: number[] = [];
  /** The userId of the person who got each key. */
  readonly pairs = new Map<BoxKey, string>();
  /** How often a key did not answer in time, and was plugged in again. */
  unread = 0;
  readonly #bench: WatchedBench;
  readonly #args: readonly string[];
  readonly #models = new Set<string>();
  #program: ChildProcess;
  #screen: Screen;

  /** `args` are those of `enroll`. */
  constructor(bench: WatchedBench, args: readonly string[]) {
    this.#bench = bench;
    this.#args = args;
    this.#program = startAtTerminal('enroll', ...args);
    this.#screen = new Screen(this.#program);
  }

  /** Number of lines on the screen. */
  get lines(): number {
    return this.#screen.lines.length;
  }

  type(text: string): void {
    this.#program.stdin!.write(text);
  }

  /** The first line from number `from` on that matches. */
  async shows(what: string, pattern: RegExp, from: number): Promise<{ readonly text: string; readonly at: number }> {
    return this.#screen.lines[await this.#screen.until(what, text => pattern.test(text), from)]!;
  }

  /** Waits until the screen has named this person. */
  async named(userId: string): Promise<void> {
    await this.#screen.until(`the name of ${userId}`, text => PROMPT.exec(text)?.[1] === userId, 0);
  }

  /** Plugs the key in, and waits until it has passed its check for this person: its id at the bench. */
  async pass(key: BoxKey, userId: string): Promise<number> {
    const from = this.lines;
    const id = await this.#bench.plug(key.spec);
    const passed = await this.passed(key, id, userId, from);
    const listed = listedAt(key.ids);
    assert.ok(listed, `${key.serial} was checked but is not in /sys`);
    if (passed.id === id) (this.#models.has(key.spec.model) ? this.passes : this.firstPasses).push(passed.at - listed);
    this.#models.add(key.spec.model);
    return passed.id;
  }

  /** Waits until the key has passed its check for this person. A key that did not answer in time is plugged in again. */
  async passed(key: BoxKey, id: number, userId: string, from: number, more = MORE): Promise<Passed> {
    const result = new RegExp(`✓ PASS .*${key.serial}|✗ FAIL .*${UNREAD}`);
    const { text, at } = await this.shows(`PASS of ${key.serial}`, result, from);
    const named = this.#screen.texts.map(line => PROMPT.exec(line)?.[1]).findLast(found => found !== undefined);
    const shown = this.#screen.texts.slice(-30).join('\n');
    assert.equal(named, userId, `the person on the screen for ${key.serial}; its last lines:\n${shown}`);
    if (text.includes('PASS')) return { id, at };
    assert.ok(more > 0, `${key.serial} did not answer in time, ${1 + MORE} times`);
    this.unread += 1;
    await this.#bench.unplug(id, key.serial);
    const again = this.lines;
    return this.passed(key, await this.#bench.plug(key.spec), userId, again, more - 1);
  }

  /** Plugs the key in, and waits until it has failed its check: its id at the bench. */
  async fail(key: BoxKey): Promise<number> {
    const from = this.lines;
    const id = await this.#bench.plug(key.spec);
    await this.shows('why it is not bound', new RegExp(`✗ FAIL .*(${key.serial}|${UNREAD})`), from);
    return id;
  }

  /** Fails a key that has to be named with its serial number. */
  async failNamed(key: BoxKey): Promise<number> {
    const from = this.lines;
    const id = await this.#bench.plug(key.spec);
    await this.shows('why it is not bound', new RegExp(`✗ FAIL .*${key.serial}`), from);
    return id;
  }

  /** Pulls out a key that has passed, or presses Enter before that, and waits until it is bound. */
  async bind(key: BoxKey, id: number, userId: string, byEnter: boolean): Promise<void> {
    const from = this.lines;
    const begun = Date.now();
    if (byEnter) this.type('\r');
    else await this.#bench.unplug(id, key.serial);
    const at = await this.#result(key, userId, from);
    assert.ok(at, `${key.serial} had passed and was not bound`);
    this.bindings.push(at - begun);
    if (byEnter) await this.#bench.unplug(id, key.serial);
  }

  /** Whether a key that was pulled out early is bound all the same, because its check was quicker. */
  async isBound(key: BoxKey, userId: string, from: number): Promise<boolean> {
    return (await this.#result(key, userId, from)) !== null;
  }

  /** Whether a key that was perhaps not seen has a result since line `from`, and is bound. */
  async isBoundBy(key: BoxKey, userId: string, from: number): Promise<boolean> {
    const isResult = (text: string) => resultOf(key).test(text);
    return this.#screen.texts.slice(from).some(isResult) && this.isBound(key, userId, from);
  }

  /** When the key was bound; null if it has failed. */
  async #result(key: BoxKey, userId: string, from: number): Promise<number | null> {
    const { text, at } = await this.shows(`the result of ${key.serial}`, resultOf(key), from);
    if (text.includes('FAIL')) return null;
    assert.match(text, new RegExp(`^✓ bound +${userId} `));
    this.pairs.set(key, userId);
    return at;
  }

  /** Ctrl-C, and the same command again. */
  async startAgain(): Promise<void> {
    const closed = once(this.#program, 'close');
    this.type('\x03');
    const [code] = await closed;
    assert.equal(code, INTERRUPTED, this.#screen.texts.slice(-5).join('\n'));
    this.#program = startAtTerminal('enroll', ...this.#args);
    this.#screen = new Screen(this.#program);
    this.#models.clear();
    await this.shows('how far the run is', /^Continuing .* done/, 0);
  }

  /** Resolves to the exit code when the run has ended. */
  async ended(): Promise<number> {
    if (this.#program.exitCode === null) await once(this.#program, 'close');
    return this.#program.exitCode!;
  }
}
