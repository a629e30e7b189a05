/** Results of PC/SC calls, as 32 bits. Source: pcsclite.h; winscard.h has the same numbers. */

/** Results that a call has to distinguish. */
export const RESULT = {
  SUCCESS: 0,
  CANCELED: 0x8010_0002,
  INVALID_HANDLE: 0x8010_0003,
  UNKNOWN_READER: 0x8010_0009,
  TIMEOUT: 0x8010_000a,
  READER_GONE: 0x8010_0017,
  NO_READERS: 0x8010_002e,
} as const;

/** Names as `errors.ts` and pcsc-mini have them. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [RESULT.CANCELED, 'Cancelled'],
  [RESULT.INVALID_HANDLE, 'InvalidHandle'],
  [RESULT.UNKNOWN_READER, 'UnknownReader'],
  [RESULT.TIMEOUT, 'Timeout'],
  [0x8010_000b, 'SharingViolation'],
  [0x8010_000c, 'NoSmartCard'],
  [0x8010_000d, 'UnknownCard'],
  [0x8010_000f, 'ProtoMismatch'],
  [0x8010_0012, 'SystemCancelled'],
  [0x8010_0013, 'CommError'],
  [0x8010_0016, 'NotTransacted'],
  [RESULT.READER_GONE, 'ReaderUnavailable'],
  [0x8010_0018, 'Shutdown'],
  [0x8010_001c, 'CardUnsupported'],
  [0x8010_001d, 'NoService'],
  [0x8010_001e, 'ServiceStopped'],
  [0x8010_0027, 'NoAccess'],
  [RESULT.NO_READERS, 'NoReadersAvailable'],
  [0x8010_0065, 'UnsupportedCard'],
  [0x8010_0066, 'UnresponsiveCard'],
  [0x8010_0067, 'UnpoweredCard'],
  [0x8010_0068, 'ResetCard'],
  [0x8010_0069, 'RemovedCard'],
  [0x8010_006a, 'SecurityViolation'],
]);

/** A call of PC/SC that failed. `code`: the name of the result, or its number in hex. */
export class PcscFailure extends Error {
  readonly result: number;
  readonly code: string;

  constructor(result: number) {
    const code = NAMES.get(result) ?? `0x${result.toString(16).toUpperCase()}`;
    super(`PC/SC reports ${code}`);
    this.result = result;
    this.code = code;
  }
}
