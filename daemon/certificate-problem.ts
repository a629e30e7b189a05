/** Why a certificate is not accepted, without anything that it contains; null if that is not the cause of the error. */
export function certificateProblem(error: unknown, hostname: string): string | null {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `the certificate is not for ${hostname}`;
  // Node adds an option of its own after a semicolon.
  return /CERT|SELF_SIGNED|UNABLE_TO_/.test(code) ? `the certificate is not trusted: ${message.split(';')[0]}` : null;
}
