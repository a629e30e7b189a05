/** Delivers the events of the journal to one endpoint: in order, each at least once, the next one when the last one has arrived. */
import type { EventRecord } from '../../domain/journal.ts';
import {
  type AfterAttempt,
  afterAttempt,
  disable,
  type Progress,
  type ProgressRecord,
  progressSet,
  WEBHOOKS,
  type WebhookRecord,
  webhooksIn,
} from '../../domain/webhook.ts';
import type { Logger } from '../../logger.ts';
import { Conflict } from '../../store/commit.ts';
import type { Store } from '../../store/store.ts';
import { type Message, messageOf } from './messages.ts';
import type { Poster } from './poster.ts';

/** Entries that are read at a time, and how many of other types are passed before the progress is stored. */
const PAGE = 100;
const PASSED = 1000;
/** A pause is waited in parts of this, so that a clock that is set is noticed. */
const LONGEST_PAUSE_MS = 60_000;
/** Milliseconds until the store is tried again. */
const STORE_PAUSE_MS = 2000;
/** Milliseconds that a post may take after the delivery is stopped: one that is cut is posted again. */
const GRACE_MS = 2000;

/** What all endpoints work with. */
export interface EndpointParts {
  readonly store: Pick<Store, 'events' | 'webhookProgress' | 'document' | 'commit'>;
  readonly poster: Pick<Poster, 'post'>;
  readonly registryId: string;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after this time, or when the signal is aborted. Tests replace it. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

interface Next {
  readonly event: EventRecord;
  readonly message: Message;
}

/** The delivery to one endpoint. Memory is bounded however far behind it is. */
export class EndpointDelivery {
  readonly #parts: EndpointParts;
  readonly #record: WebhookRecord;
  #wake = new AbortController();
  #stored: ProgressRecord | null = null;
  /** Entries after `#passed` that were read. */
  #page: readonly EventRecord[] = [];
  #passed = 0;
  /** What follows from an attempt and is not stored yet: the event must not be posted again for that. */
  #unstored: { readonly version: number; readonly after: AfterAttempt } | null = null;

  constructor(parts: EndpointParts, record: WebhookRecord) {
    this.#parts = parts;
    this.#record = record;
  }

  /** Looks for new entries. */
  wake(): void {
    this.#wake.abort();
  }

  /** Resolves when the signal is aborted, or nothing more is to be delivered: the endpoint is disabled or removed. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, pause } = this.#parts;
    let failing = false;
    while (!signal.aborted) {
      // Before the reads: a commit during them must not be missed.
      this.#wake = new AbortController();
      try {
        const milliseconds = await this.#step(signal);
        failing = false;
        if (milliseconds === null) return;
        if (milliseconds > 0) await pause(milliseconds, AbortSignal.any([signal, this.#wake.signal]));
      } catch (error) {
        this.#stored = null;
        if (error instanceof Conflict) continue;
        if (!failing) log.warn({ webhook: this.#record.number, err: error }, 'a webhook waits for the store');
        failing = true;
        await pause(STORE_PAUSE_MS, signal);
      }
    }
  }

  /** Does one thing. Milliseconds until the next one; null if there is nothing more to do. */
  async #step(signal: AbortSignal): Promise<number | null> {
    this.#stored ??= await this.#read();
    if (!this.#stored) return null;
    const { progress, version } = this.#stored;
    // With another version it was stored although the store did not say so, or an administrator has changed the state.
    if (this.#unstored?.version === version) return this.#store(progress, this.#unstored.after);
    const wait = (progress.nextAt ?? 0) - this.#parts.now();
    if (wait > 0) return Math.min(wait, LONGEST_PAUSE_MS);
    if (this.#page.length === 0) this.#page = await this.#parts.store.events({ after: this.#passed, limit: PAGE });
    const isLast = this.#page.length < PAGE;
    const next = this.#next();
    if (next) return this.#deliver(next, signal);
    if (this.#passed - progress.through >= PASSED) await this.#save({ ...progress, through: this.#passed });
    return isLast ? LONGEST_PAUSE_MS : 0;
  }

  async #read(): Promise<ProgressRecord | null> {
    const stored = await this.#parts.store.webhookProgress(this.#record.number);
    this.#page = [];
    this.#passed = stored?.progress.through ?? 0;
    return stored;
  }

  /** The next entry of the page that the endpoint wants; null if it has none. Entries before it are passed. */
  #next(): Next | null {
    const { types } = this.#record;
    for (const [at, event] of this.#page.entries()) {
      const isWanted = types === null || (types as readonly string[]).includes(event.type);
      const message = isWanted ? messageOf(this.#parts.registryId, event) : null;
      if (message) {
        this.#page = this.#page.slice(at);
        return { event, message };
      }
      this.#passed = event.id;
    }
    this.#page = [];
    return null;
  }

  async #deliver({ event, message }: Next, signal: AbortSignal): Promise<number | null> {
    const { poster, now } = this.#parts;
    const at = now();
    const cut = new AbortController();
    const cutLater = () => setTimeout(() => cut.abort(), GRACE_MS).unref();
    signal.addEventListener('abort', cutLater, { once: true });
    const posted = await poster.post(this.#record, message, cut.signal);
    signal.removeEventListener('abort', cutLater);
    if (cut.signal.aborted && posted.result !== 'delivered') return 0;
    const outcome = { event: event.id, type: event.type, messageId: message.id, at, ...posted };
    const { version, progress } = this.#stored!;
    const after = afterAttempt(progress, outcome, now(), Math.random());
    this.#unstored = { version, after };
    return this.#store(progress, after);
  }

  async #store(before: Progress, after: AfterAttempt): Promise<number | null> {
    if (after.disabled !== null) return this.#disable(after.progress, after.disabled);
    await this.#save(after.progress);
    this.#unstored = null;
    if (after.progress.failures === 0) {
      this.#passed = after.progress.through;
      this.#page = this.#page.filter(({ id }) => id > this.#passed);
    }
    this.#report(before, after.progress);
    return 0;
  }

  async #save(progress: Progress): Promise<void> {
    const { version } = this.#stored!;
    await this.#commit([progressSet(this.#record.number, version, progress)]);
    this.#stored = { version: version + 1, progress };
  }

  async #disable(progress: Progress, reason: string): Promise<null> {
    const { store, log, now } = this.#parts;
    const webhooks = webhooksIn(await store.document(WEBHOOKS));
    const record = webhooks.list.find(({ number }) => number === this.#record.number);
    if (!record || record.disabled) return null;
    const set = progressSet(record.number, this.#stored!.version, progress);
    await this.#commit([...disable(webhooks, record, now(), reason).changes, set]);
    log.warn({ webhook: record.number, reason }, 'a webhook was disabled');
    return null;
  }

  #commit(changes: Parameters<Store['commit']>[0]['changes']) {
    return this.#parts.store.commit({ at: this.#parts.now(), actor: null, requestId: null, changes });
  }

  /** The first failure, and the end of a series of them. */
  #report(before: Progress, { failures, attempts }: Progress): void {
    const { log } = this.#parts;
    const webhook = this.#record.number;
    if (failures === 1)
      log.warn({ webhook, reason: attempts[0]?.reason }, 'an event could not be posted; it is tried again');
    if (failures === 0 && before.failures > 0) log.info({ webhook }, 'events are posted again');
  }
}
