/**
 * Every reader pcscd has, as its own socket tells them: the binding's watch ends at four. The conversation is that of
 * libpcsclite with its service, in the byte order of the machine.
 */
import { connect, type Socket } from 'node:net';

export interface ListedReader {
  readonly name: string;
  /** As PC/SC gives it: flags below, above them the count of insertions and removals. */
  readonly raw: number;
}

export interface ServiceWatch {
  close(): void;
}

const SOCKET = '/run/pcscd/pcscd.comm';
const VERSION = 0x11;
const WAIT_FOR_CHANGE = 0x13;
const MAJOR = 4;
/** What services in use speak; the list has been the same in all of them. */
const MINORS = [4, 5, 3] as const;

const VERSION_BYTES = 12;
const CHANGE_BYTES = 8;
const READERS = 16;
const READER_BYTES = 184;
const NAME_BYTES = 128;
const COUNT_AT = 128;
const STATE_AT = 132;
const SHARING_AT = 136;

/** The service's own flags of a reader. */
const IS_UNKNOWN = 1;
const IS_PRESENT = 4;
const IS_MUTE = 8;
const EXCLUSIVE_SHARING = -1;

/** Flags of PC/SC. */
const UNAVAILABLE = 0x08;
const EMPTY = 0x10;
const PRESENT = 0x20;
const EXCLUSIVE = 0x80;
const MUTE = 0x200;

/**
 * Calls `onList` with all readers, at first and after each change, and `onEnd` once when there will be no more: the service
 * is gone, or speaks otherwise than is known here. Never throws.
 */
export function watchService(onList: (readers: ListedReader[]) => void, onEnd: (why: string) => void): ServiceWatch {
  let closed = false;
  let socket: Socket | null = null;
  const end = (why: string): void => {
    if (closed) return;
    closed = true;
    onEnd(why);
  };
  const attempt = (minors: readonly number[]): void => {
    const [minor, ...others] = minors;
    if (minor === undefined) {
      end('pcscd speaks another version of its protocol');
      return;
    }
    socket = connect(process.env.PCSCLITE_CSOCK_NAME ?? SOCKET);
    socket.unref();
    const conversation = converse(minor, onList);
    socket.on('data', (chunk: Buffer) => {
      if (closed) return;
      try {
        const next = conversation.take(chunk);
        if (next === 'refused') {
          socket?.removeAllListeners('close').destroy();
          attempt(others);
        } else for (const message of next) socket?.write(message);
      } catch (error) {
        // Of whoever is told the list: the binding may have no native part here.
        socket?.destroy();
        end(error instanceof Error ? error.message : String(error));
      }
    });
    socket.on('error', error => end(error.message));
    socket.on('close', () => end('pcscd has closed the connection'));
    socket.write(conversation.greeting);
  };
  attempt(MINORS);
  return {
    close() {
      closed = true;
      socket?.destroy();
    },
  };
}

/** What is sent and what comes back, without the socket. */
export function converse(minor: number, onList: (readers: ListedReader[]) => void) {
  type Step = { readonly bytes: number; readonly take: (message: Buffer) => Buffer[] | 'refused' };
  let buffer = Buffer.alloc(0);
  const version: Step = {
    bytes: VERSION_BYTES,
    take(message) {
      if (message.readUInt32LE(8) !== 0) return 'refused';
      step = list;
      return [command(WAIT_FOR_CHANGE)];
    },
  };
  const list: Step = {
    bytes: READERS * READER_BYTES,
    take(message) {
      onList(readersIn(message));
      step = change;
      return [];
    },
  };
  const change: Step = {
    bytes: CHANGE_BYTES,
    take() {
      step = list;
      return [command(WAIT_FOR_CHANGE)];
    },
  };
  let step = version;

  const greeting = Buffer.alloc(VERSION_BYTES);
  greeting.writeInt32LE(MAJOR, 0);
  greeting.writeInt32LE(minor, 4);
  return {
    greeting: command(VERSION, greeting),
    /** What to send now. */
    take(chunk: Buffer): Buffer[] | 'refused' {
      buffer = Buffer.concat([buffer, chunk]);
      const out: Buffer[] = [];
      while (buffer.length >= step.bytes) {
        const { bytes, take } = step;
        const message = buffer.subarray(0, bytes);
        buffer = buffer.subarray(bytes);
        const next = take(message);
        if (next === 'refused') return next;
        out.push(...next);
      }
      return out;
    },
  };
}

function command(number: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(data.length, 0);
  header.writeUInt32LE(number, 4);
  return Buffer.concat([header, data]);
}

/** Out of the service's table, whose places may be free. */
export function readersIn(table: Buffer): ListedReader[] {
  const readers: ListedReader[] = [];
  for (let at = 0; at + READER_BYTES <= table.length; at += READER_BYTES) {
    const name = table.toString('utf8', at, at + NAME_BYTES).replace(/\0.*$/s, '');
    if (name === '') continue;
    const count = table.readUInt32LE(at + COUNT_AT) & 0xffff;
    const state = table.readUInt32LE(at + STATE_AT);
    const exclusive = table.readInt32LE(at + SHARING_AT) === EXCLUSIVE_SHARING;
    readers.push({ name, raw: count * 0x1_0000 + flagsOf(state, exclusive) });
  }
  return readers;
}

function flagsOf(state: number, exclusive: boolean): number {
  if (state & IS_UNKNOWN) return UNAVAILABLE;
  if (!(state & IS_PRESENT)) return EMPTY;
  return PRESENT | (state & IS_MUTE ? MUTE : 0) | (exclusive ? EXCLUSIVE : 0);
}
