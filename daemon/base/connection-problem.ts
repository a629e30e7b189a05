/** Why connections fail, in words of this program: nothing that the other side has sent, such as the names in its certificate. */

/** Why a certificate is not accepted; null if that is not the cause of the error. */
export function certificateProblem(error: unknown, hostname: string): string | null {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `the certificate is not for ${hostname}`;
  // Node adds an option of its own after a semicolon.
  return /CERT|SELF_SIGNED|UNABLE_TO_/.test(code) ? `the certificate is not trusted: ${message.split(';')[0]}` : null;
}

/** Most bytes of the headers of a response from another system. */
export const MAX_HEADERS = 16 * 1024;

const noTls = 'the endpoint does not speak TLS';
const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'the name cannot be resolved now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection was not established in time',
  HPE_HEADER_OVERFLOW: `the headers of the response are longer than ${MAX_HEADERS} bytes`,
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
};

/** Why a connection or a request on it failed. */
export function connectionProblem(error: unknown, hostname: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // The code of an aborted request is a number.
  if (typeof code !== 'string') return message;
  const known = codes[code] ?? (code.startsWith('HPE_') ? 'the response is not HTTP' : undefined);
  return known ?? certificateProblem(error, hostname) ?? `${message || 'the connection failed'} (${code})`;
}
