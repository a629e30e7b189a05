/** Business codes, the envelope of responses, and the error that carries a code. */

/** The business codes of the interface by name. */
export const Code = {
  parameterError: 1001,
  userNotFound: 1002,
  wrongPassword: 1003,
  tokenInvalid: 1004,
  tokenExpired: 1005,
  deviceNotFound: 2001,
  alreadyActivated: 2002,
  activationCodeInvalid: 2003,
  deviceLocked: 2004,
  deviceDeactivated: 2005,
  serialDuplicated: 2006,
  noPermission: 2007,
  backupNotFound: 3001,
  restoreFailed: 3002,
  versionNotFound: 4001,
  uploadFailed: 4002,
} as const;

/**
 * The business codes of errors, each with its HTTP status, a name and its default message. 404 to 500 are the HTTP statuses
 * for which the interface has no code of its own.
 */
export const codes = {
  [Code.parameterError]: {
    http: 400,
    name: 'PARAMETER_ERROR',
    meaning: 'parameter error; the message names the field',
  },
  [Code.userNotFound]: { http: 401, name: 'USER_NOT_FOUND', meaning: 'user does not exist' },
  [Code.wrongPassword]: { http: 403, name: 'WRONG_PASSWORD', meaning: 'wrong password' },
  [Code.tokenInvalid]: { http: 401, name: 'TOKEN_INVALID', meaning: 'token missing or invalid' },
  [Code.tokenExpired]: { http: 401, name: 'TOKEN_EXPIRED', meaning: 'token expired; log in again' },
  [Code.deviceNotFound]: { http: 404, name: 'DEVICE_NOT_FOUND', meaning: 'device does not exist' },
  [Code.alreadyActivated]: { http: 400, name: 'ALREADY_ACTIVATED', meaning: 'device already activated' },
  [Code.activationCodeInvalid]: {
    http: 400,
    name: 'ACTIVATION_CODE_INVALID',
    meaning: 'activation code invalid or expired',
  },
  [Code.deviceLocked]: { http: 400, name: 'DEVICE_LOCKED', meaning: 'device locked; unlock it first' },
  [Code.deviceDeactivated]: { http: 400, name: 'DEVICE_DEACTIVATED', meaning: 'device permanently deactivated' },
  [Code.serialDuplicated]: { http: 400, name: 'SERIAL_DUPLICATED', meaning: 'serial number already registered' },
  [Code.noPermission]: { http: 403, name: 'NO_PERMISSION', meaning: 'no permission for the operation' },
  [Code.backupNotFound]: { http: 404, name: 'BACKUP_NOT_FOUND', meaning: 'backup does not exist' },
  [Code.restoreFailed]: {
    http: 400,
    name: 'RESTORE_FAILED',
    meaning: 'restore failed: the backup is damaged or missing',
  },
  [Code.versionNotFound]: { http: 404, name: 'VERSION_NOT_FOUND', meaning: 'application version does not exist' },
  [Code.uploadFailed]: { http: 400, name: 'UPLOAD_FAILED', meaning: 'file upload failed' },
  404: { http: 404, name: 'NOT_FOUND', meaning: 'no such operation, user or service token' },
  412: {
    http: 412,
    name: 'PRECONDITION_FAILED',
    meaning: 'the device has another version than If-Match names; see ETag',
  },
  416: { http: 416, name: 'RANGE_NOT_SATISFIABLE', meaning: 'the requested range is outside the file' },
  429: { http: 429, name: 'RATE_LIMITED', meaning: 'rate limit exceeded; see X-RateLimit-Reset' },
  500: { http: 500, name: 'INTERNAL_ERROR', meaning: 'internal error; the log has the details under the request id' },
} as const;

/** A business code of an error. */
export type ErrorCode = keyof typeof codes;
/** `code` of every successful response. */
export const SUCCESS = 200;

/** Codes of requests that may succeed if they are sent again: its fault can be corrected, or it was not carried out. */
const notFinal: ReadonlySet<ErrorCode> = new Set([
  Code.parameterError,
  Code.userNotFound,
  Code.wrongPassword,
  Code.tokenInvalid,
  Code.tokenExpired,
  Code.noPermission,
  412,
  429,
  500,
] as const);

/** Whether a response with this code is stored for an Idempotency-Key. Success is final too. */
export const isFinal = (code: ErrorCode): boolean => !notFinal.has(code);

/** HTTP status of a business code. A wrong password is 401 at login and 403 elsewhere, so that the client stays logged in. */
export function httpStatus(code: ErrorCode, atLogin = false): number {
  return code === Code.wrongPassword && atLogin ? 401 : codes[code].http;
}

/** Whether a number is a business code of this interface. */
export function isErrorCode(code: number): code is ErrorCode {
  return Object.hasOwn(codes, code);
}

/** One problem of an input. */
export interface InputProblem {
  /** Path of the field, such as `items[0].serialNumber`; empty for the request as a whole. */
  readonly field: string;
  /** Text that follows the name of the field. */
  readonly reason: string;
  /** The values that the field takes, if they are few. */
  readonly allowed?: readonly string[];
}

/** A refusal with a business code. Its message is sent to the client, so it must not reveal internal details. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  /** `data` of the response, for clients that know how to continue; null for most errors. */
  readonly data: object | null;
  /** All problems of an input; empty if the message describes the only one. */
  readonly details: readonly InputProblem[];
  constructor(
    code: ErrorCode,
    message: string = codes[code].meaning,
    data: object | null = null,
    details: readonly InputProblem[] = [],
  ) {
    super(message);
    this.code = code;
    this.data = data;
    this.details = details;
  }
}

/** A refusal of one field of the input, with 1001. `reason` follows the name of the field: `is required`, or `: it has expired`. */
export function inputError(field: string, reason: string): ApiError {
  const message = reason.startsWith(':') ? field + reason : `${field} ${reason}`;
  return new ApiError(Code.parameterError, message, null, [{ field, reason: reason.replace(/^: /, '') }]);
}
