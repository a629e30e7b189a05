import type { ListedReader } from '../../protocols/pcscd.ts';
import { type Abi, Memory } from './abi.ts';
import { addressOf, type NativeFunctions } from './native.ts';
import { PcscFailure, RESULT } from './results.ts';

type CardHandle = number | bigint;

const SCOPE_SYSTEM = 2;
/** Bytes of an ATR and of an attribute, at most. */
const SHORT_BYTES = 264;
/** Bytes of the longest response APDU: extended length and the status word. */
const RESPONSE_BYTES = 65_538;
/** Bytes of the names of all readers. */
const NAMES_BYTES = 16_384;
/** The state differs from the known one. */
const STATE_CHANGED = 0x2;
const STATE_UNKNOWN = 0x4;

/** One context of PC/SC, and at most one card in it. Every call blocks its thread. A failed call throws PcscFailure. */
export class SmartCards {
  readonly #abi: Abi;
  readonly #native: NativeFunctions;
  readonly #memory: Memory;
  readonly #response = Buffer.alloc(RESPONSE_BYTES);
  #context: CardHandle | null = null;
  #card: CardHandle = 0;
  #protocol = 0;

  constructor(abi: Abi, native: NativeFunctions) {
    this.#abi = abi;
    this.#native = native;
    this.#memory = new Memory(abi);
  }

  /** Connects to the service. Returns the context, for `cancel` on another thread. */
  open(): CardHandle {
    const cell = this.#memory.handleCell();
    check(this.#native.establish(this.#memory.dword(SCOPE_SYSTEM), null, null, cell));
    this.#context = this.#memory.readHandle(cell);
    return this.#context;
  }

  /** Ends the context and its connections. Idempotent; a service that is gone has ended them already. */
  close(): void {
    if (this.#context !== null) this.#native.release(this.#context);
    this.#context = null;
  }

  /** Ends a blocking `changes` of another thread with this context. */
  cancel(context: CardHandle): void {
    this.#native.cancel(context);
  }

  /** The names of all readers. */
  readers(): string[] {
    const names = Buffer.alloc(NAMES_BYTES);
    const length = this.#memory.dwordCell(names.length);
    const result = resultOf(this.#native.readers(this.#opened(), null, names, length));
    if (result === RESULT.NO_READERS) return [];
    check(result);
    return this.#memory.texts(names.subarray(0, this.#memory.readDword(length)));
  }

  /**
   * Waits until the state of one of these readers differs from `raw`, or a reader appears where the system reports that, for at
   * most so many milliseconds. Returns the readers with their present states, without those that are gone; null if there was
   * nothing to wait for or one of them is not known: then the list has to be read again.
   */
  changes(known: readonly ListedReader[], milliseconds: number): ListedReader[] | null {
    const { newReaders, maxStates } = this.#abi;
    const watched = known.slice(0, maxStates);
    const pseudo = newReaders !== null && watched.length < maxStates ? [{ name: newReaders, raw: 0 }] : [];
    const entries = [...watched, ...pseudo];
    if (entries.length === 0) return null;
    const names = entries.map(({ name }) => this.#memory.text(name));
    const states = this.#statesOf(entries, names);
    const [timeout, count] = [this.#memory.dword(milliseconds), this.#memory.dword(entries.length)];
    const result = resultOf(this.#native.statusChange(this.#opened(), timeout, states, count));
    if (WITHOUT_NEWS.includes(result)) return watched;
    if (OF_ANOTHER_LIST.includes(result)) return null;
    check(result);
    return this.#presentStates(watched, states);
  }

  /** The states as the native code expects them. It reads `names` during the call: the caller keeps them. */
  #statesOf(entries: readonly ListedReader[], names: readonly Buffer[]): Buffer {
    const { bytes, knownAt } = this.#abi.readerState;
    const states = Buffer.alloc(bytes * entries.length);
    for (const [i, { raw }] of entries.entries()) {
      states.writeBigUInt64LE(addressOf(names[i]!), i * bytes);
      this.#memory.writeDword(states, raw, i * bytes + knownAt);
    }
    return states;
  }

  #presentStates(watched: readonly ListedReader[], states: Buffer): ListedReader[] {
    const { bytes, presentAt } = this.#abi.readerState;
    const present = watched.map(({ name }, i) => ({
      name,
      raw: (this.#memory.readDword(states, i * bytes + presentAt) & ~STATE_CHANGED) >>> 0,
    }));
    return present.filter(({ raw }) => (raw & STATE_UNKNOWN) === 0);
  }

  /** Connects to the card in a reader, in a context of its own: what goes wrong with one card does not affect another. */
  connect(reader: string, mode: number, protocol: number): void {
    this.open();
    const card = this.#memory.handleCell();
    const active = this.#memory.dwordCell();
    const name = this.#memory.text(reader);
    const how = [mode, protocol].map(value => this.#memory.dword(value));
    try {
      check(this.#native.connect(this.#opened(), name, ...how, card, active));
    } catch (error) {
      this.close();
      throw error;
    }
    this.#card = this.#memory.readHandle(card);
    this.#protocol = this.#memory.readDword(active);
  }

  reconnect(mode: number, initially: number): void {
    const active = this.#memory.dwordCell();
    const values = [mode, this.#protocol, initially].map(value => this.#memory.dword(value));
    check(this.#native.reconnect(this.#card, ...values, active));
    this.#protocol = this.#memory.readDword(active);
  }

  /** Ends the context as well, whatever the service answers: no connection is left over. */
  disconnect(then: number): void {
    try {
      check(this.#native.disconnect(this.#card, this.#memory.dword(then)));
    } finally {
      this.close();
    }
  }

  begin(): void {
    check(this.#native.begin(this.#card));
  }

  end(then: number): void {
    check(this.#native.end(this.#card, this.#memory.dword(then)));
  }

  transmit(apdu: Uint8Array): Uint8Array {
    const request = this.#memory.ioRequest(this.#protocol);
    const length = this.#memory.dwordCell(this.#response.length);
    const bytes = this.#memory.dword(apdu.length);
    check(this.#native.transmit(this.#card, request, apdu, bytes, null, this.#response, length));
    return Uint8Array.from(this.#response.subarray(0, this.#memory.readDword(length)));
  }

  /** The answer to reset. */
  atr(): Uint8Array {
    const name = Buffer.alloc(NAMES_BYTES);
    const nameLength = this.#memory.dwordCell(name.length);
    const [state, protocol] = [this.#memory.dwordCell(), this.#memory.dwordCell()];
    const atr = Buffer.alloc(SHORT_BYTES);
    const length = this.#memory.dwordCell(atr.length);
    check(this.#native.status(this.#card, name, nameLength, state, protocol, atr, length));
    return Uint8Array.from(atr.subarray(0, this.#memory.readDword(length)));
  }

  attribute(id: number): Uint8Array {
    const value = Buffer.alloc(SHORT_BYTES);
    const length = this.#memory.dwordCell(value.length);
    check(this.#native.attribute(this.#card, this.#memory.dword(id), value, length));
    return Uint8Array.from(value.subarray(0, this.#memory.readDword(length)));
  }

  #opened(): CardHandle {
    if (this.#context === null) throw new PcscFailure(RESULT.INVALID_HANDLE);
    return this.#context;
  }
}

/** A wait that ended without a change. */
const WITHOUT_NEWS: readonly number[] = [RESULT.TIMEOUT, RESULT.CANCELED];
/** A reader has gone since the list was read. */
const OF_ANOTHER_LIST: readonly number[] = [RESULT.UNKNOWN_READER, RESULT.READER_GONE, RESULT.NO_READERS];

function resultOf(value: number | bigint): number {
  return Number(BigInt.asUintN(32, BigInt(value)));
}

function check(value: number | bigint): void {
  const result = resultOf(value);
  if (result !== RESULT.SUCCESS) throw new PcscFailure(result);
}
