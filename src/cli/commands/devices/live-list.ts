/** `devmgr list --watch`: a page of the list, drawn again when the stream reports a change. */
import type { DeviceListItem } from '../../../contract/devices.ts';
import { journalEventTable, journalEventTypes } from '../../../contract/event-types.ts';
import { Unreachable } from '../../client/failures.ts';
import { followNotifications, type StreamState } from '../../client/stream.ts';
import { count, counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import type { ListPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { type Frame, LiveScreen } from '../../terminal/live-screen.ts';
import { plain } from '../../terminal/style.ts';
import { table } from '../../terminal/table.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** Milliseconds between a change and the request for the page: changes often come together. */
const debounceMs = 200;
/** Milliseconds between two requests at least, far from the limit of a user. */
const leastPauseMs = 1_000;

const types = journalEventTypes.filter(type => 'deviceId' in journalEventTable[type].data);

interface LiveListing {
  /** The columns for a page. */
  readonly columns: (list: readonly DeviceListItem[]) => readonly Column<DeviceListItem>[];
  readonly load: () => Promise<ListPage<DeviceListItem>>;
}

/** Ends with Ctrl-C, which is how watching ends: the last page stays on the terminal. */
export async function watchList(context: Context, listing: LiveListing): Promise<number> {
  const { io, env, out } = context;
  if (out.format !== 'table' && out.format !== 'wide')
    throw usage(`--watch and --output ${out.format} cannot be combined`, 'use --output wide, or omit one of them');
  if (io.stdoutIsTerminal && env.TERM === 'dumb')
    throw usage('--watch needs a terminal with a cursor, and TERM is dumb', 'without a cursor: devmgr watch');
  if (!io.stdoutIsTerminal)
    throw usage('--watch needs a terminal, and standard output is not one', 'for programs: devmgr watch --json');
  const page = await listing.load();
  return new LiveList(context, listing, page).run();
}

class LiveList {
  readonly #context: Context;
  readonly #listing: LiveListing;
  readonly #screen: LiveScreen;
  readonly #failed = new AbortController();
  #page: ListPage<DeviceListItem>;
  #loadedAt = new Date();
  #state: StreamState = 'connecting';
  #changes = 0;
  #timer: NodeJS.Timeout | null = null;
  #isLoading = false;
  #isStale = false;

  constructor(context: Context, listing: LiveListing, page: ListPage<DeviceListItem>) {
    this.#context = context;
    this.#listing = listing;
    this.#page = page;
    this.#screen = new LiveScreen(context.io, context.out.paint !== plain, () => this.#frame());
  }

  async run(): Promise<number> {
    const { io, out, registry } = this.#context;
    const signal = AbortSignal.any([io.interrupt, this.#failed.signal]);
    await this.#screen.open();
    try {
      await this.#screen.draw();
      const stream = { client: registry, types, since: null, signal, onState: this.#onState };
      for await (const _ of followNotifications(stream)) {
        this.#changes++;
        this.#refreshSoon();
      }
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer);
      await this.#screen.close();
    }
    if (!io.interrupt.aborted) throw this.#failed.signal.reason;
    await out.table(this.#listing.columns(this.#page.list), this.#page.list);
    out.notice(`${counted(this.#changes, 'change')} seen`);
    return exitCodes.interrupted;
  }

  readonly #onState = (state: StreamState): void => {
    this.#state = state;
    // A change before the stream began has no event.
    if (state === 'connected' || state === 'resumed' || state === 'gap') this.#refreshSoon();
    this.#drawNow();
  };

  #refreshSoon(): void {
    this.#isStale = true;
    if (this.#timer !== null || this.#isLoading) return;
    const pause = Math.max(debounceMs, leastPauseMs - (Date.now() - this.#loadedAt.getTime()));
    this.#timer = setTimeout(() => void this.#refresh(), pause);
  }

  async #refresh(): Promise<void> {
    this.#timer = null;
    this.#isStale = false;
    this.#isLoading = true;
    try {
      this.#page = await this.#listing.load();
    } catch (error) {
      // The stream reports a lost server, and when it is back.
      if (!(error instanceof Unreachable)) this.#failed.abort(error);
    }
    this.#isLoading = false;
    this.#loadedAt = new Date();
    if (this.#context.io.interrupt.aborted || this.#failed.signal.aborted) return;
    if (this.#isStale) this.#refreshSoon();
    this.#drawNow();
  }

  #drawNow(): void {
    this.#screen.draw().catch((error: unknown) => this.#failed.abort(error));
  }

  async #frame(): Promise<Frame> {
    const { io, out } = this.#context;
    const { list, pagination } = this.#page;
    const text = await table(this.#listing.columns(list), list, io.columns, out.paint);
    const { page, totalPages, total } = pagination;
    const time = localTime(this.#loadedAt.toISOString(), { seconds: true }).slice(-'HH:MM:SS'.length);
    const pages = totalPages > 1 ? `, page ${count(page)} of ${count(totalPages)}` : '';
    return {
      lines: text.trimEnd().split('\n'),
      footer: safe(`${counted(total, 'device')}${pages}  ${time}  ${this.#state}  Ctrl-C ends`),
    };
  }
}
