/**
 * Removes credentials at providers when their devices are no longer ACTIVE. One daemon of a registry does it at a time. What has to be
 * removed follows from the registry and is read again at each start: nothing can be lost that the registry has.
 */

import pLimit from 'p-limit';
import { deviceIds, providerIds } from '../../src/contract/ids.ts';
import { waitMs } from '../../src/delivery/retry.ts';
import { schedules } from '../../src/delivery/schedules.ts';
import { poll, sleep } from '../../src/delivery/wait.ts';
import type { DueTask } from '../background/due-work.ts';
import { JournalTail } from '../background/journal-tail.ts';
import type { Logger } from '../base/logger.ts';
import { Service, type ServiceParts } from '../requests/context.ts';
import { RetryLater } from '../requests/limiter.ts';
import { Conflict } from '../store/commit.ts';
import type { EntryType, EventRecord } from '../store/journal.ts';
import { isToRemove } from './credential.ts';
import { pinDocument, pinIn, setPin } from './pin.ts';
import type { ProviderService } from './provider-service.ts';
import { isRefusal } from './providers/provider-api.ts';
import { allOpenCredentials } from './reads.ts';
import type { RemoteCredentials } from './remote-credentials.ts';

/** Types of journal entries after which the credentials of a device have to be removed at their providers. */
const ENDING: readonly EntryType[] = [
  'DEVICE_LOCKED',
  'DEVICE_DEACTIVATED',
  'CREDENTIAL_BEGUN',
  'CREDENTIAL_ISSUED',
  'KEY_RESET',
];
/**
 * Milliseconds from an entry to the next look, so that many commits are one look; between looks at all credentials; between
 * removals of one credential that the provider refuses to remove, or may register late.
 */
const WAIT_MS = { settle: 100, sweep: 300_000, apart: 30_000 } as const;
/** Entries before the start that are looked at again: a daemon that was killed may not have handled them. */
const LOOK_BACK = 10_000;
/** Entries of one look, and requests to one provider at a time. */
const PAGE = 1000;
const AT_ONCE = 4;
/** Milliseconds between looks for new ones while a provider is not asked. */
const NEW_MS = 500;

interface CredentialRemovalsParts extends ServiceParts {
  readonly log: Logger;
  readonly providers: Pick<ProviderService, 'find'>;
  readonly remoteCredentials: Pick<RemoteCredentials, 'remove'>;
}

/** Looks for what has to be removed. */
export class CredentialRemovals extends Service<CredentialRemovalsParts> implements DueTask {
  readonly work = 'credentials';
  readonly undone = 'could not look for credentials that have to be removed';
  readonly #tail: JournalTail;
  #unfollow = (): void => {};
  #queues!: Queues;
  /** Id of the last entry that was looked at; null before the first look. */
  #last: number | null = null;
  #sweepAt = 0;
  /** Aborted by the next commit after the last look began. */
  #next!: AbortSignal;

  constructor(parts: CredentialRemovalsParts) {
    super(parts);
    this.#tail = new JournalTail(parts.store);
  }

  begin(turn: AbortSignal): void {
    this.#unfollow = this.#tail.follow();
    this.#queues = new Queues(this.parts, turn);
    this.#last = null;
    this.#sweepAt = 0;
  }

  async look(): Promise<boolean> {
    this.#next = this.#tail.next;
    this.#last ??= Math.max(0, (await this.store.lastEventId()) - LOOK_BACK);
    if (performance.now() >= this.#sweepAt) {
      for await (const portion of allOpenCredentials(this.store))
        for (const { number, provider, due } of portion) if (due) this.#queues.add(provider, number);
      this.#sweepAt = performance.now() + WAIT_MS.sweep;
    }
    // Up to here: otherwise each look would walk again through all entries of other types since the last one of these.
    const through = await this.store.lastEventId();
    const ended = await this.store.events({ after: this.#last, through, limit: PAGE, types: ENDING });
    for (const { type, device } of ended) if (type === 'DEVICE_DEACTIVATED') await this.#removePin(device!);
    const devices = ended.map(one => this.#deviceOf(one));
    for (const device of new Set(await Promise.all(devices)))
      for (const { number, provider } of device ? await this.store.credentialsOf(device) : [])
        this.#queues.add(provider, number);
    const isPage = ended.length === PAGE;
    this.#last = isPage ? ended.at(-1)!.id : through;
    return isPage;
  }

  async wait(turn: AbortSignal): Promise<void> {
    await sleep(this.#sweepAt - performance.now(), AbortSignal.any([turn, this.#next]));
    await sleep(WAIT_MS.settle, turn);
  }

  async end(): Promise<void> {
    this.#unfollow();
    await this.#queues.ended();
  }

  async #deviceOf({ type, device, subject, detail }: EventRecord): Promise<number | null | undefined> {
    if (type === 'KEY_RESET') return deviceIds.parse(`${detail.deviceId}`);
    return device ?? (await this.store.credential(subject!))?.device;
  }

  /** For a device that was retired because its person left. Any other deactivation removes the PIN in its own commit. */
  async #removePin(device: number): Promise<void> {
    const document = await this.store.document(pinDocument(device));
    if (document === null || pinIn(document) === null) return;
    const removed = setPin(device, document.version, null, { type: 'PIN_REMOVED', detail: { reason: 'deactivated' } });
    await this.store.commit({ at: this.now(), actor: null, requestId: null, changes: [removed] });
  }
}

/** How a provider answered in one pass, and the longest time in seconds that it asks to wait; 0 if it does not say. */
interface RemovalAnswers {
  done: number;
  refused: number;
  away: number;
  waitSeconds: number;
}

/** Credentials to remove, by provider: a provider that does not respond does not delay the others. */
class Queues {
  readonly #parts: CredentialRemovalsParts;
  readonly #signal: AbortSignal;
  readonly #waiting = new Map<number, Set<number>>();
  readonly #running = new Map<number, Promise<void>>();

  constructor(parts: CredentialRemovalsParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Credentials by their numbers. Those that do not have to be removed are skipped. */
  add(provider: number, credential: number): void {
    const waiting = this.#waiting.get(provider) ?? new Set();
    this.#waiting.set(provider, waiting.add(credential));
    if (!this.#running.has(provider)) this.#running.set(provider, this.#work(provider, waiting));
  }

  /** Resolves after the signal is aborted. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Removes the waiting credentials until none is left. */
  async #work(provider: number, waiting: Set<number>): Promise<void> {
    const limit = pLimit(AT_ONCE);
    for (let failures = 0; waiting.size > 0 && !this.#signal.aborted; ) {
      const answers: RemovalAnswers = { done: 0, refused: 0, away: 0, waitSeconds: 0 };
      await Promise.all([...waiting].map(number => limit(() => this.#remove(provider, number, waiting, answers))));
      if (answers.done > 0) failures = 0;
      if (waiting.size === 0 || (answers.away === 0 && answers.refused < AT_ONCE)) continue;
      const pauseMs = Math.max(waitMs(schedules.removal, failures++)!, 1000 * answers.waitSeconds);
      // A key that is lost in the meantime does not wait for those that have failed, unless the provider asks to wait.
      const tried = answers.waitSeconds > 0 ? null : new Set(waiting);
      const isNew = () => (tried && [...waiting].some(number => !tried.has(number))) || null;
      await poll(isNew, { everyMs: NEW_MS, forMs: pauseMs, signal: this.#signal });
    }
    this.#running.delete(provider);
  }

  /** After a few failures in one pass, or if the provider asks to wait, the rest waits for the next one. */
  async #remove(provider: number, number: number, waiting: Set<number>, answers: RemovalAnswers): Promise<void> {
    const { away, refused, waitSeconds } = answers;
    if (this.#signal.aborted || away + refused >= AT_ONCE || waitSeconds > 0) return;
    const { log } = this.#parts;
    // A failure does not keep the next credentials from being tried.
    waiting.delete(number);
    try {
      const isDone = await this.#removeDue(number);
      answers.done++;
      if (!isDone) void this.#addLater(provider, number);
    } catch (error) {
      if (error instanceof Conflict) return void waiting.add(number);
      log.warn({ err: error }, `credential ${number} could not be removed`);
      if (isRefusal(error)) {
        answers.refused++;
        return void this.#addLater(provider, number);
      }
      waiting.add(number);
      answers.away++;
      if (error instanceof RetryLater) answers.waitSeconds = Math.max(answers.waitSeconds, error.retryAfter);
    }
  }

  /** A credential that cannot be removed yet does not delay the others. */
  async #addLater(provider: number, number: number): Promise<void> {
    await sleep(WAIT_MS.apart, this.#signal);
    if (!this.#signal.aborted) this.add(provider, number);
  }

  /** Resolves with false if it has to be removed again. */
  async #removeDue(number: number): Promise<boolean> {
    const { store, providers, remoteCredentials, log, now } = this.#parts;
    const credential = await store.credential(number);
    const device = credential && (await store.device(credential.device));
    if (!credential || !device || !isToRemove(credential, device)) return true;
    const provider = await providers.find(providerIds.format(credential.provider));
    const change = await remoteCredentials.remove(provider, credential);
    if (change) await store.commit({ at: now(), actor: null, requestId: null, changes: [change] });
    const isRemoved = change?.entry != null;
    if (isRemoved)
      log.info(
        { provider: provider.number, device: device.number },
        `credential ${number} was removed at its provider`,
      );
    return isRemoved;
  }
}
