import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { issueCertificate, makeAuthority } from './certificates.ts';

/** A server that speaks TLS for the one at `endpoint`, with a certificate that this process trusts. */
export async function encrypted(endpoint: string, host = '127.0.0.1') {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-certificate-'));
  const authority = makeAuthority(folder, 'authority');
  const issued = issueCertificate(folder, authority, `IP:${host}`);
  setDefaultCACertificates([...getCACertificates(), readFileSync(authority.cert, 'utf8')]);
  const options = { cert: readFileSync(issued.cert), key: readFileSync(issued.key) };
  rmSync(folder, { recursive: true });
  const { hostname, port } = new URL(endpoint);
  const server = createServer(options, async socket => {
    const onward = connect(Number(port), hostname);
    await Promise.allSettled([pipeline(socket, onward), pipeline(onward, socket)]);
  }).listen(0, host);
  await once(server, 'listening');
  return { url: `https://${host}:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
