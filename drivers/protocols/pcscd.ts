/**
 * The socket protocol between libpcsclite and pcscd, as far as the list of readers: commands and tables in the byte order of
 * the machine. Source: pcsc-lite, winscard_msg.h and eventhandler.h (protocol version 4.3 to 4.5).
 */

/** A reader in pcscd's list. */
export interface ListedReader {
  readonly name: string;
  /** As SCardGetStatusChange reports it: flags in the low 16 bits, the count of insertions and removals above. */
  readonly raw: number;
}

/** Message codes. */
const COMMAND = { VERSION: 0x11, WAIT_READER_STATE_CHANGE: 0x13 } as const;
const MAJOR_VERSION = 4;
/** Minor versions that services in use speak, most frequent first. The reader table is the same in all of them. */
export const MINOR_VERSIONS: readonly number[] = [4, 5, 3];

/** Major and minor version and a result, four bytes each. */
const VERSION_BYTES = 12;
const RESULT_AT = 8;
/** The notification that a reader has changed. */
const CHANGE_BYTES = 8;
const HEADER_BYTES = 8;

/** The table of readers: fixed entries, unused ones with an empty name. */
const TABLE_ENTRIES = 16;
const ENTRY_BYTES = 184;
const NAME_BYTES = 128;
const EVENT_COUNT_AT = 128;
const STATE_AT = 132;
const SHARING_AT = 136;

/** The service's own reader states. */
const SERVICE_STATE = { UNKNOWN: 0x01, PRESENT: 0x04, MUTE: 0x08 } as const;
const EXCLUSIVE_SHARING = -1;

/** SCARD_STATE flags of PC/SC. */
const STATE = { UNAVAILABLE: 0x08, EMPTY: 0x10, PRESENT: 0x20, EXCLUSIVE: 0x80, MUTE: 0x200 } as const;

/** Message to send next; `refused` if the service speaks another version. */
type Reply = readonly Buffer[] | 'refused';

/** One conversation with pcscd: takes what arrives, returns what to send, and reports the list of readers after each change. */
export class PcscdConversation {
  /** First message. */
  readonly greeting: Buffer;
  readonly #onList: (readers: ListedReader[]) => void;
  #received: Buffer = Buffer.alloc(0);
  #expects: 'version' | 'list' | 'change' = 'version';

  constructor(minorVersion: number, onList: (readers: ListedReader[]) => void) {
    const version = Buffer.alloc(VERSION_BYTES);
    version.writeInt32LE(MAJOR_VERSION, 0);
    version.writeInt32LE(minorVersion, 4);
    this.greeting = message(COMMAND.VERSION, version);
    this.#onList = onList;
  }

  /** Takes the next bytes from the service, in pieces of any size. */
  take(chunk: Buffer): Reply {
    this.#received = Buffer.concat([this.#received, chunk]);
    const out: Buffer[] = [];
    for (let length = this.#expectedBytes(); this.#received.length >= length; length = this.#expectedBytes()) {
      const answer = this.#handle(this.#received.subarray(0, length));
      if (answer === 'refused') return answer;
      this.#received = this.#received.subarray(length);
      out.push(...answer);
    }
    return out;
  }

  #expectedBytes(): number {
    return { version: VERSION_BYTES, list: TABLE_ENTRIES * ENTRY_BYTES, change: CHANGE_BYTES }[this.#expects];
  }

  #handle(bytes: Buffer): Reply {
    if (this.#expects === 'list') {
      this.#expects = 'change';
      this.#onList(parseReaders(bytes));
      return [];
    }
    if (this.#expects === 'version' && bytes.readUInt32LE(RESULT_AT) !== 0) return 'refused';
    this.#expects = 'list';
    return [message(COMMAND.WAIT_READER_STATE_CHANGE)];
  }
}

function message(command: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(data.length, 0);
  header.writeUInt32LE(command, 4);
  return Buffer.concat([header, data]);
}

/** The used entries of a table. Accepts any bytes; an entry that is cut off is left out. */
export function parseReaders(table: Buffer): ListedReader[] {
  const readers: ListedReader[] = [];
  for (let at = 0; at + ENTRY_BYTES <= table.length; at += ENTRY_BYTES) {
    const name = table.toString('utf8', at, at + NAME_BYTES).replace(/\0.*$/s, '');
    if (name === '') continue;
    const count = table.readUInt32LE(at + EVENT_COUNT_AT) & 0xffff;
    const state = table.readUInt32LE(at + STATE_AT);
    const exclusive = table.readInt32LE(at + SHARING_AT) === EXCLUSIVE_SHARING;
    readers.push({ name, raw: count * 0x1_0000 + stateFlags(state, exclusive) });
  }
  return readers;
}

function stateFlags(state: number, exclusive: boolean): number {
  if (state & SERVICE_STATE.UNKNOWN) return STATE.UNAVAILABLE;
  if (!(state & SERVICE_STATE.PRESENT)) return STATE.EMPTY;
  return STATE.PRESENT | (state & SERVICE_STATE.MUTE ? STATE.MUTE : 0) | (exclusive ? STATE.EXCLUSIVE : 0);
}
