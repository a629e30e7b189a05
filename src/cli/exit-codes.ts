/** The exit codes of the program, what each one means, and which failure has which. */
import { Code } from '../contract/codes.ts';
import type { FaultKind } from './fault.ts';

/** The exit codes; scripts rely on them. */
export const exitCodes = {
  done: 0,
  failure: 1,
  usage: 2,
  login: 3,
  permission: 4,
  absent: 5,
  refused: 6,
  partial: 7,
  limited: 8,
  unreachable: 9,
  hardware: 10,
  interrupted: 130,
} as const;

/** The meaning of each exit code. */
export const exitCodeWords: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failure: 'any other failure',
  usage: 'wrong usage or an invalid parameter',
  login: 'not logged in, or login refused',
  permission: 'no permission',
  absent: 'does not exist',
  refused: "refused: the device's state, its code or version, a duplicate, or a key that is not proved",
  partial: 'some items of a batch failed',
  limited: 'rate limit reached (with --no-wait)',
  unreachable: 'server not reachable',
  hardware: 'hardware not available, or no key in time',
  interrupted: 'interrupted',
};

/** Each exit code with its meaning. */
export const endings: readonly (readonly [code: string, words: string])[] = Object.entries(exitCodeWords).map(
  ([name, words]) => [String(exitCodes[name as keyof typeof exitCodes]), words],
);

/** The exit code of an error on this side. */
export const exitOfFault: Readonly<Record<FaultKind, number>> = {
  usage: exitCodes.usage,
  login: exitCodes.login,
  device: exitCodes.absent,
  absent: exitCodes.absent,
  unreachable: exitCodes.unreachable,
  hardware: exitCodes.hardware,
  partial: exitCodes.partial,
  interrupted: exitCodes.interrupted,
  closed: exitCodes.done,
  failure: exitCodes.failure,
};

/** `code` in the JSON of an error that no server sent: the business code with the same meaning, else a word. */
export const codeOfFault: Readonly<Record<FaultKind, number | string>> = {
  usage: Code.parameterError,
  login: Code.tokenInvalid,
  device: Code.deviceNotFound,
  absent: 404,
  unreachable: 'UNREACHABLE',
  hardware: 'HARDWARE',
  partial: 'PARTIAL_FAILURE',
  interrupted: 'INTERRUPTED',
  closed: 'CLOSED',
  failure: 'FAILED',
};

/** The business codes of each exit code. HTTP status codes are accepted as well: a proxy may answer with one. */
const codesOfExits: readonly (readonly [exit: keyof typeof exitCodes, codes: readonly number[]])[] = [
  ['usage', [400, Code.parameterError]],
  ['login', [401, Code.userNotFound, Code.wrongPassword, Code.tokenInvalid, Code.tokenExpired]],
  ['permission', [403, Code.noPermission]],
  ['absent', [404, Code.deviceNotFound, Code.backupNotFound, Code.versionNotFound]],
  ['refused', [412, Code.alreadyActivated, Code.activationCodeInvalid, Code.deviceLocked, Code.deviceDeactivated]],
  ['refused', [Code.serialDuplicated]],
  ['limited', [429]],
];

/** Exit code of a business code. */
export const exitOfCode = (code: number): number =>
  exitCodes[codesOfExits.find(([, codes]) => codes.includes(code))?.[0] ?? 'failure'];
