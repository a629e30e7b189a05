import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findTool } from './needs.ts';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** How openssl makes a key if nothing else is asked for. */
const elliptic = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/** Makes a certificate for this machine that only clients with this file trust. `name` distinguishes it from others. */
export function makeCertificate(dir: string, name: string, newKey: readonly string[] = elliptic): Certificate {
  const [cert, key] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', ...newKey, '-nodes', '-days', '2'];
  execFileSync(findTool('openssl')!, ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  return { cert, key };
}

/** Makes an authority. */
export function makeAuthority(dir: string, name: string): Certificate {
  const [cert, key] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  const kind = ['-newkey', ...elliptic, '-nodes', '-days', '2', '-subj', `/CN=${name}`];
  execFileSync(findTool('openssl')!, ['req', '-x509', ...kind, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}

/** Makes a certificate of an authority for an address, such as `IP:127.0.0.1`. */
export function issueCertificate(dir: string, authority: Certificate, address: string): Certificate {
  const [cert, key] = [join(dir, 'issued.crt'), join(dir, 'issued.key')];
  const kind = ['-newkey', ...elliptic, '-nodes', '-days', '2', '-subj', '/CN=server'];
  const by = ['-CA', authority.cert, '-CAkey', authority.key, '-addext', `subjectAltName=${address}`];
  const args = ['req', '-x509', ...kind, ...by, '-addext', 'basicConstraints=critical,CA:FALSE'];
  execFileSync(findTool('openssl')!, [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}
