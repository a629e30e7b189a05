/**
 * The part of PC/SC that the driver needs, and the numbers of its interface, which are the same on all systems. Two transports
 * implement it: `mini/` over pcscd's socket and the package pcsc-mini, `ffi/` over the library of the system. `library.ts` chooses one.
 */
import type { ListedReader } from '../protocols/pcscd.ts';

/** How a card is shared with other programs. */
export const CARD_MODE = { EXCLUSIVE: 1, SHARED: 2, DIRECT: 3 } as const;
/** Treatment of a card when a connection or a transaction ends. */
export const DISPOSITION = { LEAVE: 0, RESET: 1 } as const;
/** Protocols of a card; `UNSET` for a connection to the reader alone. */
export const PROTOCOL = { UNSET: 0, T0: 1, T1: 2, ANY: 3 } as const;
/** Flags in the state of a reader. */
export const READER_STATE = { EMPTY: 0x10, PRESENT: 0x20, EXCLUSIVE: 0x80, MUTE: 0x200 } as const;

/**
 * A connection to a card, or with `CARD_MODE.DIRECT` to a reader. A call that is under way cannot be canceled: it ends when
 * the card answers or is removed. Calls reject with an error whose `code` is the name of a PC/SC error (`errors.ts`).
 */
export interface Card {
  transmit(apdu: Uint8Array): Promise<Uint8Array>;
  /** Waits while another program is in a transaction. */
  transaction(): Promise<Transaction>;
  state(): Promise<{ readonly atr: Uint8Array }>;
  /** An attribute of the reader, by its number in PC/SC part 3. */
  attributeGet(id: number): Promise<Uint8Array>;
  reconnect(mode: number, initially: number): Promise<unknown>;
  /** The connection cannot be used after this, also if it fails. */
  disconnect(then: number): Promise<void>;
}

/** An exclusive use of a card, begun by `Card.transaction`. */
interface Transaction {
  end(then: number): Promise<void>;
}

/** A reader of the service. */
export interface PcscReader {
  name(): string;
  /** Rejects as the calls of Card do. */
  connect(mode: number, protocol: number): Promise<Card>;
}

/** Report about a reader. `raw`: flags in the low 16 bits, the count of insertions and removals above. */
export interface ReaderHandlers {
  onReader(reader: PcscReader): void;
  onReaderGone(name: string): void;
  onChange(name: string, raw: ListedReader['raw']): void;
}

/** Receives the reports of a watch. */
export interface WatchHandlers extends ReaderHandlers {
  /** The watch does not work any more. */
  onError(error: Error): void;
}

/** A watch of the readers. No handler is called after `close` was called. */
export interface ReaderWatch {
  /** Resolves when the watch has ended, or when it turns out that it cannot be ended. Idempotent. */
  close(): Promise<void>;
}

/** A way to the PC/SC service. */
export interface Pcsc {
  /** How many readers a watch reports at most; Infinity if it reports all. */
  readonly maxReaders: number;
  /** Connects to the service and reports its readers. Rejects with the error of PC/SC if the service cannot be reached. */
  watch(handlers: WatchHandlers): Promise<ReaderWatch>;
}
