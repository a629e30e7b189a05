import { once } from 'node:events';
import { getCACertificates } from 'node:tls';
import { Worker } from 'node:worker_threads';

let roots: Promise<readonly Uint8Array[]> | null = null;

/** DER of the roots that this machine trusts: those of Node.js, of NODE_EXTRA_CA_CERTS and of the system. Read once. */
export function systemRoots(): Promise<readonly Uint8Array[]> {
  roots ??= read().catch(error => {
    roots = null;
    throw error;
  });
  return roots;
}

async function read(): Promise<readonly Uint8Array[]> {
  const ofSystem = await inWorker();
  return [...new Set([...getCACertificates('default'), ...ofSystem])].map(derOf);
}

/** These texts were written by OpenSSL: base64 between two lines. Reading them as certificates would take 30 ms. */
const derOf = (pem: string): Uint8Array => Buffer.from(pem.split('-----')[2] ?? '', 'base64');

/** A machine without a list of its own has no roots of the system. */
const worker = `
  let certificates = [];
  try { certificates = require('node:tls').getCACertificates('system'); } catch {}
  require('node:worker_threads').parentPort.postMessage(certificates);`;

/** Reading the roots of the system takes 25 ms and more, in one call. */
async function inWorker(): Promise<readonly string[]> {
  const [certificates] = await once(new Worker(worker, { eval: true }), 'message');
  return certificates as readonly string[];
}
