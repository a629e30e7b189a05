/** What can come of a request besides an answer. */
import { Fault, systemCode } from '../fault.ts';

/** The server answered, and refused: `code` is the business code. */
export class Refusal extends Error {
  readonly code: number;
  /** Seconds until a limited operation can be tried again; null where the server named none. */
  readonly waitSeconds: number | null;
  readonly requestId: string | null;
  /** Fields of the request that was refused: path parameters and body. Empty if they are not known. */
  readonly request: Readonly<Record<string, unknown>>;
  constructor(
    code: number,
    message: string,
    waitSeconds: number | null,
    requestId: string | null,
    request: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.waitSeconds = waitSeconds;
    this.requestId = requestId;
    this.request = request;
  }
}

/** No answer. `maybeDone` says whether the server may have received the request, and so have carried it out. */
export class Unreachable extends Fault {
  readonly maybeDone: boolean;
  /** It was waited for in vain: trying again would only double the wait. */
  readonly timedOut: boolean;
  constructor(message: string, maybeDone: boolean, hint: string | null = null, timedOut = false) {
    super('unreachable', message, hint);
    this.maybeDone = maybeDone;
    this.timedOut = timedOut;
  }
}

export const isRefusal = (error: unknown, ...codes: readonly number[]): error is Refusal =>
  error instanceof Refusal && (codes.length === 0 || codes.includes(error.code));

const checkAddress = 'check the address (--server URL), the network, and whether the server runs';

/** The names that stand in the certificate of a server. */
function certificateNames(error: unknown): string {
  const { subjectaltname, subject } =
    (error as { cert?: { subjectaltname?: string; subject?: { CN?: string } } }).cert ?? {};
  return (subjectaltname ?? subject?.CN ?? 'none').replaceAll(/\b(DNS|IP Address):/g, '').slice(0, 200);
}

/** What is behind an error of the socket, in words. `origin` is the server's address. */
export function linkFailure(error: unknown, origin: string): Fault {
  const code = systemCode(error) ?? '';
  const words = error instanceof Error ? error.message : String(error);
  switch (code) {
    case 'ECONNREFUSED':
      return new Unreachable(`no server answers at ${origin} (connection refused)`, false, checkAddress);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Unreachable(`the name of the server in ${origin} cannot be resolved`, false, checkAddress);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return new Unreachable(`there is no way to ${origin} (${code})`, false, checkAddress);
  }
  if (code.startsWith('HPE_'))
    return new Fault(
      'failure',
      `what answers at ${origin} does not speak HTTP (${code})`,
      'is it https:// in place of http://, or another port?',
    );
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return new Unreachable(
      `the certificate of ${origin} is for another name: ${certificateNames(error)}`,
      false,
      'name the server as its certificate does: --server https://NAME',
    );
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return new Unreachable(`${origin} does not speak TLS`, false, 'is it http:// in place of https://?');
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL/.test(code))
    return new Unreachable(
      // Node adds flags of its own that this program does not have.
      `the certificate of ${origin} is not to be trusted: ${words.split(';')[0]}`,
      false,
      'name the certificate of its authority with --ca FILE',
    );
  if (code === 'ETIMEDOUT' || code === 'ECONNECT_TIMEOUT')
    return new Unreachable(`no connection to ${origin} within the time allowed`, false, checkAddress);
  const tryAgain = 'try again; `devmgr doctor` looks for the cause';
  if (code === 'EIDLE') return new Unreachable(`${origin} stopped answering (${words})`, true, tryAgain, true);
  return new Unreachable(`the connection to ${origin} was lost (${code || words})`, true, tryAgain);
}
