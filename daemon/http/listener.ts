/** The TLS files, the port and the end of the HTTP server. */
import { readFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type DaemonSettings, StartRefused } from '../home/settings.ts';
import type { Logger } from '../logger.ts';

/** Seconds that a stop waits for running requests. */
const GRACE_SECONDS = 10;

/** Certificate and key in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Ciphers of TLS 1.2 with forward secrecy; those of TLS 1.3 all have it. */
const FORWARD_SECRET = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** What TLS is set up with, at the start and after each reload: a traffic recording is useless to a later holder of the key. */
export const tlsOptions = (files: TlsFiles) => ({ ...files, ciphers: FORWARD_SECRET, minVersion: 'TLSv1.2' }) as const;

/** Reads certificate and key; undefined if none are set. Throws `StartRefused` if they are missing, not PEM, or do not belong together. */
export async function readTls({ tlsCert, tlsKey }: DaemonSettings, log: Logger): Promise<TlsFiles | undefined> {
  if (!tlsCert || !tlsKey) return undefined;
  const { createSecureContext } = await import('node:tls');
  try {
    const tls = { cert: await readFile(tlsCert), key: await readFile(tlsKey) };
    createSecureContext(tlsOptions(tls));
    await warnOfReaders(tlsKey, log);
    return tls;
  } catch (error) {
    throw new StartRefused(
      1,
      `the certificate ${tlsCert} or its key ${tlsKey} cannot be used: ${(error as Error).message}`,
      'both must be PEM files that belong together',
    );
  }
}

/** Logs a warning if others than its owner can read the key of the certificate. */
async function warnOfReaders(key: string, log: Logger): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(key);
  if (mode & 0o004)
    log.warn({ key, fix: `chmod go-r ${key}` }, 'every user of this machine can read the key of the certificate');
  else if (mode & 0o040)
    log.warn({ key, fix: `chmod g-r ${key}` }, 'the group of the file can read the key of the certificate');
}

/** Opens the port and returns the URL of the daemon. Throws `StartRefused` if the port is not available. */
export async function listen(app: FastifyInstance, settings: DaemonSettings): Promise<string> {
  try {
    await app.listen({ host: settings.host, port: settings.port, listenTextResolver: () => 'the port is open' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const where = `${settings.host}:${settings.port}`;
    if (code === 'EADDRINUSE')
      throw new StartRefused(
        1,
        `${where} is in use by another program`,
        'name another port with --port, or 0 for a free one',
        'PORT_IN_USE',
      );
    throw new StartRefused(1, `cannot listen on ${where} (${code})`, 'check --host and --port');
  }
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') && !settings.host.startsWith('[') ? `[${settings.host}]` : settings.host;
  return `${settings.tlsCert ? 'https' : 'http'}://${host}:${port}`;
}

/** Finishes running requests; closes the connections of those that take longer than the grace period. */
export async function closeServer(app: FastifyInstance, log: Logger): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('closing the connections of requests that are still running');
    app.server.closeAllConnections();
  }, GRACE_SECONDS * 1000);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
