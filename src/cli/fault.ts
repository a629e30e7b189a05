/** Errors on this side of the interface. What the server refuses is a `ServerRefusal` of the client. */

/** The kinds of errors on this side. Each has an exit code and a `code` for JSON. */
export type FaultKind =
  /** The command line is wrong, or a value is missing. */
  | 'usage'
  /** There is no login. */
  | 'login'
  /** The named device does not exist. */
  | 'device'
  /** Another named thing does not exist. */
  | 'absent'
  /** The server cannot be reached, or stopped answering. */
  | 'unreachable'
  /** No key, no reader, or no key in time. */
  | 'hardware'
  /** Some items of a batch failed. */
  | 'partial'
  /** Ctrl-C. */
  | 'interrupted'
  /** The reader of standard output has gone. */
  | 'closed'
  | 'failure';

/** `message` shows what happened and to what, `hint` what to type next. */
export class Fault extends Error {
  override name = 'Fault';
  readonly kind: FaultKind;
  readonly hint: string | null;
  constructor(kind: FaultKind, message: string, hint: string | null = null) {
    super(message);
    this.kind = kind;
    this.hint = hint;
  }
}

/** Whether an error is a fault of this kind. */
export const isFault = (error: unknown, kind: FaultKind): error is Fault =>
  error instanceof Fault && error.kind === kind;

/** The error of a wrong command line: exit code 2. */
export const usage = (message: string, hint: string | null = null): Fault => new Fault('usage', message, hint);

/** Any other error on this side: exit code 1. */
export const failure = (message: string, hint: string | null = null): Fault => new Fault('failure', message, hint);

/** The error after Ctrl-C: exit code 130. */
export const interrupted = (): Fault => new Fault('interrupted', 'interrupted');

/** The message of anything that was thrown. */
export const errorWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Result of a function, or another value if it throws. */
export function tryOr<T, E>(get: () => T, otherwise: E): T | E {
  try {
    return get();
  } catch {
    return otherwise;
  }
}

/** The system's code of an error (`ENOENT`), or null. */
export function systemCode(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}

/** Errors of a disk that takes nothing more: whatever is written, the command line is not what is wrong. */
const diskCodes: ReadonlySet<string | null> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);

/** Whether a file could not be written because the disk is full or read-only. */
export const isOfDisk = (error: unknown): error is NodeJS.ErrnoException => diskCodes.has(systemCode(error));

/** The fault for a file that the command line names and that cannot be written. */
export const notWritten = (message: string, error: unknown, hint: string | null = null): Fault =>
  new Fault(isOfDisk(error) ? 'failure' : 'usage', `${message}: ${systemWords(error)}`, hint);

const wordsOfCodes: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
  EEXIST: 'it already exists',
};

/** A system error in words. */
export const systemWords = (error: unknown): string => wordsOfCodes[systemCode(error) ?? ''] ?? errorWords(error);
