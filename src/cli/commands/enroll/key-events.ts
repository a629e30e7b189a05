/** Keys as they are plugged and pulled: from the notification stream, and by looking again where that misses one. */
import type { HardwareEventType } from '../../../contract/events.ts';
import type { Key } from '../../../contract/hardware.ts';
import { Unreachable } from '../../client/failures.ts';
import { rest } from '../../client/rest.ts';
import { followNotifications } from '../../client/stream.ts';
import type { Context } from '../../context.ts';
import { interrupted } from '../../fault.ts';

export interface KeyEvent {
  readonly type: HardwareEventType;
  readonly key: Key;
  /** The key was told of before, under the same keyId, when its serial number could not be read yet. */
  readonly again: boolean;
}

/** A look at the list while the stream stands, in case an event was lost; and while it is down. */
const slowPollMs = 10_000;
const fastPollMs = 1_500;

export interface KeyEventOptions {
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Told how the stream is. */
  readonly onState?: (state: string, detail: string) => void;
}

/**
 * What is plugged in at first comes as attached. Each plugging is told once, and once more (`again`) where its serial number
 * can be read at last.
 */
export async function* keyEvents(context: Context, options: KeyEventOptions = {}): AsyncGenerator<KeyEvent> {
  const { hardware, io } = context;
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, io.interrupt, ...(options.signal ? [options.signal] : [])]);
  const plugged = new Map<string, Key>();
  /** By keyId, while a list is on its way: it may name them still. */
  const pulled = new Set<string>();
  let listsOnTheirWay = 0;
  /** By keyId, told before the stream was lost: a daemon that was restarted since has them under other names. */
  const doubted = new Set<string>();
  const queue: KeyEvent[] = [];
  let failure: unknown = null;
  let wake: () => void = () => undefined;
  let streaming = false;

  const attach = (key: Key) => {
    const before = plugged.get(key.keyId);
    const again = before !== undefined;
    if (pulled.has(key.keyId)) return;
    doubted.delete(key.keyId);
    if (again && (before.serialNumber !== null || key.serialNumber === null)) return;
    for (const keyId of doubted) {
      const other = plugged.get(keyId)!;
      if (other.serialNumber !== null && other.serialNumber === key.serialNumber) detach(other);
    }
    plugged.set(key.keyId, key);
    queue.push({ type: 'KEY_ATTACHED', key, again });
    wake();
  };
  const detach = (key: Key) => {
    if (!plugged.delete(key.keyId)) return;
    doubted.delete(key.keyId);
    if (listsOnTheirWay > 0) pulled.add(key.keyId);
    queue.push({ type: 'KEY_DETACHED', key, again: false });
    wake();
  };
  const look = async () => {
    const before = new Set(plugged.keys());
    listsOnTheirWay++;
    try {
      const { list } = await hardware.call('listKeys');
      const now = new Set(list.map(key => key.keyId));
      // A key that came by the stream while the list was on its way is no older than the list.
      for (const key of [...plugged.values()]) if (before.has(key.keyId) && !now.has(key.keyId)) detach(key);
      for (const key of list) attach(key);
    } finally {
      if (--listsOnTheirWay === 0) pulled.clear();
    }
  };
  /** The next look finds out what one missed that was lost on its way. */
  const lookAgain = () =>
    look().catch(error => {
      if (error instanceof Unreachable) return options.onState?.('lost', error.message);
      failure = error;
      wake();
    });

  const follow = async () => {
    const events = followNotifications({
      client: hardware,
      types: ['KEY_ATTACHED', 'KEY_DETACHED'],
      since: null,
      signal,
      onState: (state, detail) => {
        streaming = state === 'connected' || state === 'resumed';
        if (state !== 'gap') options.onState?.(state, detail);
        if (state === 'lost') for (const keyId of plugged.keys()) doubted.add(keyId);
        if (streaming) void lookAgain();
      },
    });
    for await (const { type, data } of events) {
      // The types asked for have a key as their data.
      const key = data as unknown as Key;
      if (type === 'KEY_DETACHED') detach(key);
      else attach(key);
    }
  };
  const poll = async () => {
    while (!signal.aborted) {
      await rest(streaming ? slowPollMs : fastPollMs, signal);
      if (!signal.aborted) await lookAgain();
    }
  };

  await look();
  // A service without a stream is polled; what the list says against the login ends it.
  follow().catch(() => {
    streaming = false;
  });
  void poll();
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    for (;;) {
      const event = queue.shift();
      if (event) yield event;
      else if (failure) throw failure;
      else if (io.interrupt.aborted) throw interrupted();
      else if (signal.aborted) return;
      else
        await new Promise<void>(resolve => {
          wake = resolve;
        });
    }
  } finally {
    own.abort();
  }
}
