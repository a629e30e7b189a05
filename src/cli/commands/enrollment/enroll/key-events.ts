/**
 * Attached keys as they change: from the notification stream, and from the list of keys, which finds what the stream missed. Also the keys
 * and drivers at the start, and the time within which a key must come.
 */
import type { DriverStatus, Key } from '../../../../contract/hardware.ts';
import { sleep } from '../../../../delivery/wait.ts';
import { type KeyChange, KeyChanges } from '../../../../enrollment/line/key-changes.ts';
import type { Recognition } from '../../../../enrollment/recognition.ts';
import { Unreachable } from '../../../client/failures.ts';
import { followNotifications } from '../../../client/stream.ts';
import { Fault, interrupted } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { attachedKeyList, recognitionOf } from '../../../framework/devices/registration.ts';
import { safe } from '../../../terminal/text.ts';

/** How long events are followed, and who is informed of the stream. */
export interface KeyEventOptions {
  /** Ends the events. */
  readonly signal?: AbortSignal;
  /** Receives the state of the stream. */
  readonly onState?: (state: string, detail: string) => void;
}

/** Milliseconds between two requests of the list: at least with the stream, and without it or while keys are not watched. */
const slowPollMs = 10_000;
const fastPollMs = 1_500;

/**
 * Starts with the keys that are attached. Each key is reported once while it stays attached, and once more (`again`) if its
 * serial number becomes readable. Ctrl-C throws a fault; so does a list that the service refuses.
 */
export async function* keyEvents(context: Context, options: KeyEventOptions = {}): AsyncGenerator<KeyChange> {
  const { interrupt } = context.io;
  const feed = new KeyFeed(context, options);
  await feed.start();
  try {
    for (let event = await feed.next(); event !== null; event = await feed.next()) yield event;
    if (interrupt.aborted) throw interrupted();
  } finally {
    feed.stop();
  }
}

class KeyFeed {
  readonly #context: Context;
  readonly #hardware: Context['hardware'];
  readonly #recognition: Recognition;
  readonly #onState: KeyEventOptions['onState'];
  readonly #own = new AbortController();
  readonly #signal: AbortSignal;
  readonly #queue: KeyChange[] = [];
  readonly #keys = new KeyChanges(change => {
    this.#queue.push(change);
    this.#wake();
  });
  #failure: unknown = null;
  #isStreaming = false;
  #wake: () => void = () => undefined;

  constructor(context: Context, { signal, onState }: KeyEventOptions) {
    const { hardware, io } = context;
    this.#context = context;
    this.#recognition = recognitionOf(context);
    this.#hardware = hardware;
    this.#onState = onState;
    this.#signal = AbortSignal.any([this.#own.signal, io.interrupt, ...(signal ? [signal] : [])]);
    this.#signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  async start(): Promise<void> {
    await this.#readList();
    // A service without a stream is polled. If the login is invalid, the list fails.
    this.#follow().catch(() => {
      this.#isStreaming = false;
    });
    void this.#poll();
  }

  stop(): void {
    this.#own.abort();
  }

  /** The next event; null if the signal has ended the events. */
  async next(): Promise<KeyChange | null> {
    for (;;) {
      const event = this.#queue.shift();
      if (event) return event;
      if (this.#failure) throw this.#failure;
      if (this.#signal.aborted) return null;
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }

  #readList(): Promise<void> {
    return this.#keys.update(() => attachedKeyList(this.#context));
  }

  /** The next list shows what a lost one would have shown. Any other error ends the events. */
  async #readListAgain(): Promise<void> {
    // Without the stream a restart of the service goes unnoticed.
    if (!this.#isStreaming) this.#keys.doubt();
    try {
      await this.#readList();
    } catch (error) {
      if (error instanceof Unreachable) return this.#onState?.('lost', error.message);
      this.#failure = error;
      this.#wake();
    }
  }

  async #follow(): Promise<void> {
    const events = followNotifications({
      client: this.#hardware,
      types: ['KEY_ATTACHED', 'KEY_DETACHED'],
      since: null,
      signal: this.#signal,
      onState: (state, detail) => this.#streamChanged(state, detail),
    });
    for await (const { type, data } of events) {
      // The data of these types is a key.
      const key = data as unknown as Key;
      if (type === 'KEY_DETACHED') this.#keys.detach(key);
      // A key without a serial number is looked for before it is reported, so that it is reported once.
      else void this.#recognition.recognized(key).then(found => this.#keys.attach(found));
    }
  }

  #streamChanged(state: string, detail: string): void {
    this.#isStreaming = state === 'connected' || state === 'resumed';
    if (state !== 'gap') this.#onState?.(state, detail);
    // The list before a connection may be of a daemon that was restarted since.
    if (state === 'lost' || this.#isStreaming) this.#keys.doubt();
    if (this.#isStreaming) void this.#readListAgain();
  }

  async #poll(): Promise<void> {
    for (let waited = fastPollMs; ; waited += fastPollMs) {
      await sleep(fastPollMs, this.#signal);
      if (this.#signal.aborted) return;
      if (this.#isStreaming && !this.#keys.isBlind && waited < slowPollMs) continue;
      waited = 0;
      await this.#readListAgain();
    }
  }
}

/** A notice for each driver that finds no keys, with the reason. Silent with --json, where the list has them. */
export async function reportDrivers({ out, globals }: Context, drivers: readonly DriverStatus[]): Promise<void> {
  if (globals.json) return;
  if (drivers.length === 0)
    await out.prose(
      'This daemon does not look for keys: its role is registry. Name the one at the station with --hardware.',
    );
  for (const driver of drivers)
    if (driver.state !== 'ready')
      await out.prose(`${out.tint('yellow', `${safe(driver.name)} is not available:`)} ${safe(driver.detail)}`);
}

/** The keys to skip. Throws if no driver works and no key is attached: then no key can appear. */
export async function attachedAtStart(context: Context, skipAttached: boolean): Promise<Set<string>> {
  const { list, drivers } = await context.hardware.call('listKeys');
  const working = drivers.some(driver => driver.state === 'ready');
  if (working) await reportDrivers(context, drivers);
  if (!working && list.length === 0) {
    const causes = drivers.map(driver => `${driver.name}: ${driver.detail}`);
    throw new Fault(
      'hardware',
      'no keys can be detected on this machine',
      causes.join('\n    ') || 'find the cause: devmgr doctor',
    );
  }
  return new Set(skipAttached ? list.map(key => key.keyId) : []);
}

/** Whether the key is one of those to skip. A daemon that was restarted has given it another id. */
export function isSkipped(skipped: Set<string>, { key, before }: KeyChange): boolean {
  if (before !== null && skipped.has(before)) skipped.add(key.keyId);
  return skipped.has(key.keyId);
}

/** Aborts its signal if no key is handled for the given time. */
export class Idle {
  readonly #controller = new AbortController();
  readonly #seconds: number | null;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number | null) {
    this.#seconds = seconds;
    this.start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): void {
    this.stop();
    if (this.#seconds !== null) this.#timer = setTimeout(() => this.#controller.abort(), this.#seconds * 1000);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
