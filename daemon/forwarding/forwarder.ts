/**
 * Forwards the journal to another machine: in order, each entry at least once. Reads pages of the journal after the stored
 * position, so that memory is bounded, and takes no part in a commit.
 */

import { isLoopbackName } from '../../src/contract/local.ts';
import { Delivery, type Settlement } from '../../src/delivery/delivery.ts';
import { type AttemptResult, delivered, failed, untried } from '../../src/delivery/retry.ts';
import { policies } from '../../src/delivery/schedules.ts';
import { sleep } from '../../src/delivery/wait.ts';
import { JournalTail } from '../background/journal-tail.ts';
import { inTurn } from '../background/turns.ts';
import { BackgroundWork } from '../base/background-work.ts';
import type { Logger } from '../base/logger.ts';
import type { ForwardTarget } from '../home/forward-target.ts';
import { type AuditLine, toAuditLine } from '../requests/audit-line.ts';
import type { EventRecord } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { ForwardPosition, type PositionHome } from './position.ts';
import { type Send, senderTo } from './senders.ts';

/** Entries in one delivery. */
const PAGE = 500;
/** Devices read in one turn of the event loop: requests are served in between. */
const TURN = 50;
/** Milliseconds for one delivery. A receiver that never confirms, but keeps sending something, is not silent. */
const DELIVERY_MS = 120_000;

/** Dependencies of a forwarder. */
interface Options {
  readonly store: Pick<Store, 'events' | 'device' | 'lastEventId' | 'onCommit' | 'sharedWork'>;
  readonly home: PositionHome;
  readonly target: ForwardTarget;
  readonly log: Logger;
  /** Milliseconds after which a delivery has failed. */
  readonly deliveryMs?: number;
}

type Page = readonly EventRecord[];

/**
 * Delivers entries in the background until it is stopped. A delivery in progress is then ended, and the next start repeats it. Of several
 * daemons with one target, one delivers at a time.
 */
export class Forwarder extends BackgroundWork {
  readonly #options: Options;
  readonly #send: Send;
  readonly #position: ForwardPosition;
  readonly #tail: JournalTail;
  /** Id of the last delivered entry; -1 while it is not known. */
  #delivered = -1;

  constructor(options: Options) {
    super();
    this.#options = options;
    this.#send = senderTo(options.target);
    this.#position = new ForwardPosition(options.home, options.target.url, options.store.sharedWork);
    this.#tail = new JournalTail(options.store);
  }

  /** Number of entries that were not delivered yet. */
  async lag(): Promise<number> {
    const { store } = this.#options;
    const through = this.#delivered < 0 && store.sharedWork ? (await this.#position.read(store)).id : this.#delivered;
    return Math.max(0, (await store.lastEventId()) - Math.max(0, through));
  }

  protected async run(signal: AbortSignal): Promise<void> {
    const { store, target, log } = this.#options;
    if (target.kind === 'tcp' && !isLoopbackName(target.host))
      log.warn({ target: target.name }, 'the journal is forwarded over an unencrypted connection; use syslog+tls');
    const unfollow = this.#tail.follow();
    const delivery = this.#delivery();
    while (!signal.aborted) {
      await inTurn(store.sharedWork, this.#position.work, signal, turn => delivery.run(turn));
      // Another daemon may deliver from now on.
      this.#delivered = -1;
    }
    unfollow();
  }

  #delivery(): Delivery<Page, AttemptResult> {
    return new Delivery<Page, AttemptResult>({
      policy: policies.forwarding,
      onGiveUp: 'end',
      graceMs: 0,
      position: () => this.#read(),
      items: (after, signal) => this.#pages(after ?? 0, signal),
      attempt: (page, signal) => this.#deliver(page, signal),
      settle: settlement => this.#settle(settlement),
      onFailure: ({ message }, retryMs) => this.#warn(message, retryMs),
      now: () => performance.now(),
      sleep: sleep,
    });
  }

  async #read() {
    const { store, target, log } = this.#options;
    const { id, replaced } = await this.#position.read(store);
    if (replaced)
      log.warn(
        { target: target.name },
        'the journal was replaced since the last delivery; it is forwarded from its start',
      );
    this.#delivered = id;
    return { through: id, retry: untried };
  }

  async *#pages(after: number, signal: AbortSignal) {
    for await (const page of this.#tail.pages(after, PAGE, signal)) yield { id: page.at(-1)!.id, content: page };
  }

  async #deliver(page: Page, signal: AbortSignal): Promise<AttemptResult> {
    const { deliveryMs = DELIVERY_MS } = this.#options;
    const deadline = AbortSignal.timeout(deliveryMs);
    try {
      await this.#send(await this.#linesOf(page), AbortSignal.any([signal, deadline]));
      return delivered;
    } catch (error) {
      const isLate = deadline.aborted;
      return failed(isLate ? `the delivery was not confirmed within ${deliveryMs / 1000} s` : (error as Error).message);
    }
  }

  async #settle({ item, attempt, before, step }: Settlement<Page, AttemptResult>): Promise<void> {
    const { log, target } = this.#options;
    if (step.next !== 'advance') {
      const pauseMs = step.state.nextAt! - attempt!.endedAt;
      // The first failure, and then one line a minute.
      if (before.failures === 0 || pauseMs >= policies.forwarding.pauses.at(-1)! * 1000)
        this.#warn(attempt!.result.reason!, pauseMs);
      return;
    }
    const last = item.content!.at(-1)!;
    await this.#position.write(last);
    this.#delivered = last.id;
    if (before.failures > 0) log.info({ target: target.name }, 'journal entries are forwarded again');
  }

  async #linesOf(page: Page): Promise<AuditLine[]> {
    const { store } = this.#options;
    const lines: AuditLine[] = [];
    for (let at = 0; at < page.length; at += TURN)
      lines.push(...(await Promise.all(page.slice(at, at + TURN).map(record => toAuditLine(store, record)))));
    return lines;
  }

  #warn(reason: string, retryMs: number): void {
    const { log, target } = this.#options;
    log.warn(
      { target: target.name, reason, retryMs },
      'journal entries could not be forwarded; they are kept and sent again',
    );
  }
}
