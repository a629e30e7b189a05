/**
 * How PC/SC looks in memory on each system, all with 64-bit pointers. Sources: wintypes.h and pcsclite.h of pcsc-lite 1.9
 * (DWORD is `unsigned long`), the same headers of macOS (`uint32_t`, structures packed), winscard.h of Windows.
 */

/** The types and sizes of one system. */
export interface Abi {
  /** The library, as the loader of the system finds it. */
  readonly library: string;
  /** Ends the names of functions that take text. */
  readonly textSuffix: '' | 'A';
  readonly encoding: 'utf8' | 'latin1';
  readonly dword: 'uint32' | 'uint64';
  /** Of contexts and cards. */
  readonly handle: 'int32' | 'int64' | 'uint64';
  /** Of results. */
  readonly long: 'int32' | 'int64';
  readonly dwordBytes: 4 | 8;
  readonly handleBytes: 4 | 8;
  /** SCARD_READERSTATE: its size, and where the known state and the present one are. */
  readonly readerState: { readonly bytes: number; readonly knownAt: number; readonly presentAt: number };
  /** The pseudo reader that reports new readers; null if it does not exist. */
  readonly newReaders: string | null;
  /** How many states SCardGetStatusChange takes, the pseudo reader included. */
  readonly maxStates: number;
  /** How many readers can be watched; Infinity if the service itself has fewer. */
  readonly maxReaders: number;
}

const PNP = '\\\\?PnP?\\Notification';
/** Two pointers: the name, and data of the caller. */
const KNOWN_AT = 16;

/** Two pointers, three DWORDs, and 33 bytes of ATR that are filled up to a multiple of 8. */
const LINUX: Abi = {
  library: 'libpcsclite.so.1',
  textSuffix: '',
  encoding: 'utf8',
  dword: 'uint64',
  handle: 'int64',
  long: 'int64',
  dwordBytes: 8,
  handleBytes: 8,
  readerState: { bytes: 80, knownAt: KNOWN_AT, presentAt: KNOWN_AT + 8 },
  newReaders: PNP,
  // PCSCLITE_MAX_READERS_CONTEXTS, which is also what pcscd itself can have.
  maxStates: 16,
  maxReaders: Number.POSITIVE_INFINITY,
};

/** Two pointers, three DWORDs and 33 bytes of ATR, packed. */
const MACOS: Abi = {
  library: '/System/Library/Frameworks/PCSC.framework/PCSC',
  textSuffix: '',
  encoding: 'utf8',
  dword: 'uint32',
  handle: 'int32',
  long: 'int32',
  dwordBytes: 4,
  handleBytes: 4,
  readerState: { bytes: 61, knownAt: KNOWN_AT, presentAt: KNOWN_AT + 4 },
  newReaders: null,
  maxStates: 16,
  maxReaders: Number.POSITIVE_INFINITY,
};

/** Two pointers, three DWORDs and 36 bytes of ATR. Names are bytes of the code page, which latin1 keeps as they are. */
const WINDOWS: Abi = {
  library: 'WinSCard.dll',
  textSuffix: 'A',
  encoding: 'latin1',
  dword: 'uint32',
  handle: 'uint64',
  long: 'int32',
  dwordBytes: 4,
  handleBytes: 8,
  readerState: { bytes: 64, knownAt: KNOWN_AT, presentAt: KNOWN_AT + 4 },
  newReaders: PNP,
  // MAXIMUM_SMARTCARD_READERS
  maxStates: 10,
  maxReaders: 10,
};

/** The layout on a platform of Node; null if it is not known. */
export function abiOf(platform: NodeJS.Platform, machine: NodeJS.Architecture): Abi | null {
  if (machine !== 'x64' && machine !== 'arm64') return null;
  return { linux: LINUX, darwin: MACOS, win32: WINDOWS }[platform as 'linux' | 'darwin' | 'win32'] ?? null;
}

/** Memory for values of PC/SC, as one system lays them out. */
export class Memory {
  readonly #abi: Abi;

  constructor(abi: Abi) {
    this.#abi = abi;
  }

  /** A DWORD as an argument. */
  dword(value: number): number | bigint {
    return this.#abi.dword === 'uint64' ? BigInt(value) : value;
  }

  /** A DWORD in memory, for a result. */
  dwordCell(value = 0): Buffer {
    const cell = Buffer.alloc(this.#abi.dwordBytes);
    this.writeDword(cell, value, 0);
    return cell;
  }

  /** A handle in memory, for a result. */
  handleCell(): Buffer {
    return Buffer.alloc(this.#abi.handleBytes);
  }

  readHandle(cell: Buffer): number | bigint {
    if (this.#abi.handle === 'int32') return cell.readInt32LE();
    return this.#abi.handle === 'int64' ? cell.readBigInt64LE() : cell.readBigUInt64LE();
  }

  /** The low 32 bits, which hold every value of PC/SC. All systems named above are little-endian. */
  readDword(memory: Buffer, at = 0): number {
    return memory.readUInt32LE(at);
  }

  writeDword(memory: Buffer, value: number, at: number): void {
    memory.writeUInt32LE(value, at);
  }

  /** A text with its end. */
  text(value: string): Buffer {
    return Buffer.from(`${value}\0`, this.#abi.encoding);
  }

  /** The texts of a list: each with its end, and an empty one after the last. */
  texts(memory: Buffer): string[] {
    return memory.toString(this.#abi.encoding).split('\0').filter(Boolean);
  }

  /** SCARD_IO_REQUEST for a protocol: its number and the size of this structure. */
  ioRequest(protocol: number): Buffer {
    const bytes = 2 * this.#abi.dwordBytes;
    const request = Buffer.alloc(bytes);
    this.writeDword(request, protocol, 0);
    this.writeDword(request, bytes, this.#abi.dwordBytes);
    return request;
  }
}
