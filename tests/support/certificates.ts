import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findTool } from './needs.ts';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for this machine that only those trust who are told to; `name` tells it from others. */
export function makeCertificate(dir: string, name: string): Certificate {
  const [cert, key] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync(findTool('openssl')!, ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  return { cert, key };
}
