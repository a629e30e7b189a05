/** Failures of requests to a directory, in words. */
import { ResultCodeError } from 'ldapts';
import { DirectoryFailure } from './connection.ts';

/** Texts of the server are cut, and have one line. */
export function failureOf(error: unknown): DirectoryFailure {
  if (error instanceof DirectoryFailure) return error;
  if (!(error instanceof ResultCodeError)) return broken(error);
  if (error.code === 49) return new DirectoryFailure('refuses the bind DN or its password', { cause: error });
  if (error.code === 32) return new DirectoryFailure('has no such base', { cause: error });
  if (error.code === 12) return new DirectoryFailure('does not return pages', { cause: error });
  const reason = resultCodes[error.code] ?? `result code ${error.code} of LDAP`;
  return new DirectoryFailure(`refuses the request: ${reason}`, { cause: error });
}

/** Meanings of the result codes that a search or a bind can have (RFC 4511, appendix A.2). */
const resultCodes: Readonly<Record<number, string | undefined>> = {
  1: 'it has an error of its own (operationsError)',
  2: 'it does not understand the request (protocolError)',
  3: 'it ran out of time (timeLimitExceeded)',
  4: 'it returns fewer entries than there are (sizeLimitExceeded)',
  7: 'it does not know the way to sign in (authMethodNotSupported)',
  8: 'it wants a stronger way to sign in (strongerAuthRequired)',
  11: 'it allows no more entries (adminLimitExceeded)',
  13: 'it wants an encrypted connection (confidentialityRequired)',
  34: 'a name is invalid (invalidDNSyntax)',
  48: 'the account cannot sign in (inappropriateAuthentication)',
  50: 'the account may not read this (insufficientAccessRights)',
  51: 'it is busy (busy)',
  52: 'it is not available (unavailable)',
  53: 'it is not willing to (unwillingToPerform)',
};

function broken(error: unknown): never | DirectoryFailure {
  if (error instanceof Error && ofLibrary.some(words => error.message.includes(words)))
    return new DirectoryFailure(`sent an unexpected response: ${plain(error.message)}`, { cause: error });
  throw error;
}

/** How errors of the library begin that have no type of their own. */
const ofLibrary = [
  'Connection closed',
  'Socket error',
  'Operation timed out',
  'Connection timeout',
  'Socket connection',
];

const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);
