import { setTimeout as after } from 'node:timers/promises';
import type { Reader } from 'pcsc-mini';
import type { AttachedKey, Driver, DriverOptions, DriverStatus, KeyEvent, TrafficLine } from '../driver.ts';
import type { CardConnection } from '../protocols/ukey/connection.ts';
import type { Closable } from '../protocols/ukey/identify.ts';
import { createKeyReaders, type WantedKey } from './key-readers.ts';
import type { Pcsc } from './library.ts';
import { createMonitor } from './monitor.ts';
import { isPartOfAKey } from './names.ts';
import { presenceOf } from './presence.ts';
import { cardSubject, type Subject } from './reader-profile.ts';
import { createSlot, type Slot } from './slot.ts';

export interface PcscDriverOptions extends DriverOptions {
  /** Milliseconds a card has to tell its serial. Default 8,000: powering a slow card takes some of them. */
  readonly deadline?: number;
  /** Milliseconds until a card that could not be read is tried again; doubled each time. Default 1,000. */
  readonly retryAfter?: number;
  /** Milliseconds between two looks for a service that is away. Default: 500, growing to 5,000. */
  readonly lookAgainAfter?: { readonly first: number; readonly most: number };
  /** Applications asked for an EID, as hex, in this order, where a maker uses another than the standard one. */
  readonly euiccApplications?: readonly string[];
  /** Loads the binding; replaced by tests. */
  readonly load?: () => Pcsc;
}

/** A client tells the readers that are there within some milliseconds, and nothing where there is none. */
const FIRST_REPORT = 200;
/** How long stopping waits for a card that keeps silent. */
const MOST_WAIT_AT_STOP = 1_000;

/** The smart card sides of USB keys, for who knows the keys by their other sides. */
export interface KeyCards {
  /** Why none can be reached now, and what to do; null where they can. */
  absence(): string | null;
  /** Fails with a HardwareError: `unavailable` while this key's side has not appeared. */
  open(key: WantedKey, signal: AbortSignal): Promise<CardConnection & Closable>;
  /** Calls back whenever one has appeared. */
  onArrival(listener: () => void): void;
}

export interface PcscDriver extends Driver {
  readonly keyCards: KeyCards;
}

/**
 * SIM cards and other smart cards in PC/SC readers, each insertion one key. The service being away, restarted or stopped
 * makes the driver `unavailable` until it is back; its keys count as detached meanwhile, since nobody watches them.
 * A reader that is part of a USB security key is lent through `keyCards`; where it is all the key shows, it is a UKEY here.
 */
export function createPcscDriver(options: PcscDriverOptions = {}): PcscDriver {
  const notice = options.notice ?? (() => undefined);
  const cardDeadline = options.deadline ?? 8_000;
  const slots = new Map<string, Slot>();
  let listener: ((event: KeyEvent) => void) | null = null;
  let status: DriverStatus = { name: 'pcsc', state: 'unavailable', detail: 'Not started.' };

  /** A listener that throws must not throw into the native code that brought the news. */
  function emit(event: KeyEvent): void {
    try {
      listener?.(event);
    } catch (error) {
      notice('a listener of the driver failed', { error: String(error) });
    }
  }

  const monitor = createMonitor({
    onReader,
    onReaderGone,
    onChange(name, flags, pcsc) {
      const presence = presenceOf(pcsc, flags);
      slots.get(name)?.update(presence);
      keyReaders.update(name, presence);
    },
    onLost: () => [...slots.keys(), ...keyReaders.names()].forEach(onReaderGone),
    onRenewed() {
      for (const name of keyReaders.names()) keyReaders.remove(name);
      dropUnlessSeenAgain();
    },
    onStatus(state, detail) {
      if (state === status.state && detail === status.detail) return;
      status = { name: 'pcsc', state, detail };
      emit({ kind: 'status', status });
    },
    notice,
    lookAgainAfter: options.lookAgainAfter ?? { first: 500, most: 5_000 },
    load: options.load,
  });

  /** Readers that the client has not named yet, with the renewal since which they were not. */
  const unseen = new Map<Slot, number>();
  let renewals = 0;
  const onLeak = (cause: unknown) =>
    monitor.renew(`a card was not given back (${cause instanceof Error ? cause.message : cause})`);
  const traffic = (keyId: string, direction: TrafficLine['direction'], bytes: Uint8Array) =>
    options.traffic?.({ driver: 'pcsc', keyId, direction, bytes });
  const keyReaders = createKeyReaders({
    traffic,
    onLeak,
    onAlone: (reader, pcsc, subject, presence) => slotFor(reader, pcsc, subject).update(presence),
  });

  function onReader(reader: Reader, pcsc: Pcsc): void {
    // Stopping: what is plugged in meanwhile is not begun with.
    if (listener === null) return;
    const name = reader.name();
    if (isPartOfAKey(name)) keyReaders.add(reader, pcsc);
    else slotFor(reader, pcsc, cardSubject(name, options.euiccApplications));
  }

  function slotFor(reader: Reader, pcsc: Pcsc, subject: Subject): Slot {
    const name = reader.name();
    const slot = slots.get(name) ?? newSlot(reader, pcsc, subject);
    slot.rebind(reader);
    unseen.delete(slot);
    slots.set(name, slot);
    return slot;
  }

  function newSlot(reader: Reader, pcsc: Pcsc, subject: Subject): Slot {
    return createSlot({
      pcsc,
      reader,
      emit,
      notice,
      now: options.now ?? Date.now,
      deadline: cardDeadline,
      retryAfter: options.retryAfter ?? 1_000,
      subject,
      traffic,
      onLeak,
    });
  }

  function onReaderGone(name: string): void {
    const slot = slots.get(name);
    if (slot !== undefined) {
      slot.close();
      slots.delete(name);
      unseen.delete(slot);
    }
    keyReaders.remove(name);
  }

  /** A reader that was pulled while no client watched is not reported by the next: it is just not named. */
  function dropUnlessSeenAgain(): void {
    const renewal = ++renewals;
    for (const slot of slots.values()) if (!unseen.has(slot)) unseen.set(slot, renewal);
    const drop = () => {
      // A renewal that has come since has its own time to name them.
      for (const [slot, since] of unseen) if (since <= renewal) onReaderGone(slot.name);
    };
    setTimeout(drop, FIRST_REPORT * 10).unref();
  }

  async function firstScan(): Promise<void> {
    if (status.state !== 'ready') return;
    await after(FIRST_REPORT);
    // A key that another program holds is judged when it is let go.
    await Promise.race([keyReaders.settled(), after(cardDeadline, undefined, { ref: false })]);
    await Promise.all([...slots.values()].map(slot => slot.idle()));
  }

  return {
    name: 'pcsc',
    status: () => status,
    keyCards: {
      absence: () => (status.state === 'ready' ? null : status.detail),
      open: keyReaders.open,
      onArrival: keyReaders.onArrival,
    },
    keys() {
      const keys = [...slots.values()].map(slot => slot.key()).filter(key => key !== null);
      return keys.sort((a: AttachedKey, b: AttachedKey) => a.attachedAt - b.attachedAt);
    },
    async start(given) {
      listener = given;
      monitor.start();
      await firstScan();
    },
    async stop() {
      listener = null;
      const released = [...slots.values()].map(slot => {
        slot.close();
        return slot.released();
      });
      slots.clear();
      unseen.clear();
      released.push(keyReaders.released());
      // A key that is judged only now is nobody's any more.
      for (const name of keyReaders.names()) keyReaders.remove(name);
      await Promise.race([Promise.all(released), after(MOST_WAIT_AT_STOP, undefined, { ref: false })]);
      await monitor.stop();
      status = { name: 'pcsc', state: 'unavailable', detail: 'Stopped.' };
    },
  };
}
