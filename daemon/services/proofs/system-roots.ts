import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';

let roots: readonly Uint8Array[] | null = null;

/** DER of the roots that this machine trusts: those of Node.js, of NODE_EXTRA_CA_CERTS and of the system. Read once. */
export async function systemRoots(): Promise<readonly Uint8Array[]> {
  roots ??= [...new Set([...getCACertificates('default'), ...ofSystem()])].map(pem => new X509Certificate(pem).raw);
  return roots;
}

/** A machine without a list of its own has the others. */
function ofSystem(): readonly string[] {
  try {
    return getCACertificates('system');
  } catch {
    return [];
  }
}
