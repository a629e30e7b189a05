/** Why a request failed. */
import { proxyWords, type WebProxy } from '../../delivery/proxies.ts';
import { errorWords, Fault, failure, systemCode } from '../fault.ts';

/** Known facts about a refusal besides its code; null or empty if it is not known. */
interface RefusalDetails {
  /** Seconds until a limited operation can be tried again; null if the server named none. */
  readonly waitSeconds: number | null;
  /** Id under which the server's log has the request; null if the server named none. */
  readonly requestId: string | null;
  /** Fields of the request: path parameters and body. */
  readonly request: Readonly<Record<string, unknown>>;
  /** How to continue what the refusal has ended; null if it ended nothing. */
  readonly hint: string | null;
  /** Data of the refusal, which can show how to continue; null if it has none. */
  readonly data: unknown;
  /** All problems of the input; empty if the refusal lists none. */
  readonly details: readonly InputProblem[];
}

/** What is wrong with one field of the input. */
interface InputProblem {
  readonly field: string;
  readonly reason: string;
  readonly allowed?: readonly string[];
}

/** The server received the request and refused it. */
export class ServerRefusal extends Error implements RefusalDetails {
  override name = 'ServerRefusal';
  /** The business code. */
  readonly code: number;
  readonly waitSeconds: number | null;
  readonly requestId: string | null;
  readonly request: Readonly<Record<string, unknown>>;
  readonly hint: string | null;
  readonly data: unknown;
  readonly details: readonly InputProblem[];
  constructor(code: number, message: string, facts: Partial<RefusalDetails> = {}) {
    super(message);
    this.code = code;
    const { waitSeconds = null, requestId = null, request = {}, hint = null, data = null, details = [] } = facts;
    this.waitSeconds = waitSeconds;
    this.requestId = requestId;
    this.request = request;
    this.hint = hint;
    this.data = data;
    this.details = details;
  }
}

/** The refusal of a server that does not serve any request now (HTTP 503): it starts, stops or is not ready. */
export class NotServing extends ServerRefusal {}

/** There was no response, or only part of one. */
export class Unreachable extends Fault {
  /** Whether the server may have received the request, and so may have carried it out. */
  readonly maybeDone: boolean;
  /** A time limit was reached: another attempt would only double the wait. */
  readonly timedOut: boolean;
  constructor(message: string, maybeDone: boolean, hint: string | null = null, timedOut = false) {
    super('unreachable', message, hint);
    this.maybeDone = maybeDone;
    this.timedOut = timedOut;
  }
}

/** Whether a response was lost, or the server does not serve requests now, and another attempt may get it. */
export const isLost = (error: unknown): error is Unreachable | NotServing =>
  error instanceof NotServing || (error instanceof Unreachable && error.maybeDone && !error.timedOut);

/** Whether an error is a refusal, with one of these business codes if any are given. */
export const isServerRefusal = (error: unknown, ...codes: readonly number[]): error is ServerRefusal =>
  error instanceof ServerRefusal && (codes.length === 0 || codes.includes(error.code));

/** Resolves as a request; null if the server refuses it, with one of these business codes if any are given. */
export const nullIfRefused = <T>(request: Promise<T>, ...codes: readonly number[]): Promise<T | null> =>
  request.catch(error => {
    if (isServerRefusal(error, ...codes)) return null;
    throw error;
  });

/** A refusal has the fields of the request, so that hints can be chosen by them. */
export function withRequest(
  error: unknown,
  { params, body }: { readonly params?: Readonly<Record<string, unknown>>; readonly body?: unknown },
): unknown {
  if (!isServerRefusal(error)) return error;
  const request = { ...params, ...(body as Readonly<Record<string, unknown>> | undefined) };
  const Refusal = error instanceof NotServing ? NotServing : ServerRefusal;
  return new Refusal(error.code, error.message, { ...error, request });
}

const checkAddress = 'check the address (--server URL), the network, and whether the server runs';
const tryAgain = 'try again; `devmgr doctor` looks for the cause';

const notConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_PROXY_TUNNEL',
]);

/** The fault for an error of a request through a proxy, by its code. */
export function proxyFailure(error: unknown, origin: string, proxy: WebProxy): Fault {
  const code = systemCode(error) ?? '';
  if (!notConnected.has(code)) return linkFailure(error, origin);
  const status = /HTTP\/\d\.\d (\d{3})/.exec(errorWords(error))?.[1];
  const why =
    status === '407' ? 'it wants a user name and a password' : status ? `it answers with HTTP ${status}` : code;
  return new Unreachable(
    `${origin} cannot be reached through ${proxyWords(proxy)}: ${why}`,
    false,
    `check ${proxy.variable}, or reach the server without a proxy: NO_PROXY=${new URL(origin).hostname}`,
  );
}

/** The names in the certificate of a server. */
function certificateNames(error: unknown): string {
  const { subjectaltname, subject } =
    (error as { cert?: { subjectaltname?: string; subject?: { CN?: string } } }).cert ?? {};
  return (subjectaltname ?? subject?.CN ?? 'none').replaceAll(/\b(DNS|IP Address):/g, '').slice(0, 200);
}

/** The fault for an error of node:http, node:tls or ws, by its code. `origin` is the address of the server. */
export function linkFailure(error: unknown, origin: string): Fault {
  const code = systemCode(error) ?? '';
  const words = errorWords(error);
  // The socket of a daemon that has stopped is gone. Other calls of the system also report a missing file.
  const isSocketGone = code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect';
  switch (isSocketGone ? 'ECONNREFUSED' : code) {
    case 'ECONNREFUSED':
      return new Unreachable(`no server answers at ${origin} (connection refused)`, false, checkAddress);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Unreachable(`the host name in ${origin} cannot be resolved`, false, checkAddress);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return new Unreachable(`there is no route to ${origin} (${code})`, false, checkAddress);
    case 'ETIMEDOUT':
    case 'ECONNECTTIMEOUT':
      return new Unreachable(`the connection to ${origin} timed out`, false, checkAddress);
    case 'EHEADERSTIMEOUT':
      return new Unreachable(`${origin} did not send a response in time`, true, tryAgain, true);
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return new Unreachable(
        `the certificate of ${origin} is for another name: ${certificateNames(error)}`,
        false,
        'use a name in the certificate: --server https://NAME',
      );
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return new Unreachable(`${origin} does not speak TLS`, false, 'is it http:// instead of https://?');
  }
  if (code.startsWith('HPE_'))
    return failure(
      `the server at ${origin} does not speak HTTP (${code})`,
      'is it https:// instead of http://, or another port?',
    );
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL/.test(code))
    return new Unreachable(
      // Node adds flags of its own that this program does not have.
      `the certificate of ${origin} is not trusted: ${words.split(';')[0]}`,
      false,
      'give the certificate of its authority with --ca FILE',
    );
  // Node refuses what cannot be a request before it sends anything.
  if (error instanceof TypeError && code.startsWith('ERR_')) return failure(`the request cannot be sent: ${words}`);
  // The codes of libraries mean nothing to people.
  const why = code === '' ? ` (${words})` : /^E[A-Z]+$/.test(code) ? ` (${code})` : '';
  return new Unreachable(`the connection to ${origin} was lost${why}`, true, tryAgain);
}
