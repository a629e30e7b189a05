/** A syslog receiver for tests: octet counting over TCP, TLS or a Unix socket. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificates.ts';

/** A message as it arrived. */
export interface SyslogMessage {
  readonly header: string;
  /** The text of the message, parsed. */
  readonly entry: { readonly id: number; readonly type: string } & Readonly<Record<string, unknown>>;
}

export interface SyslogReceiver {
  readonly port: number;
  /** In the order of arrival. */
  readonly messages: readonly SyslogMessage[];
  /** Number of messages of each connection. */
  readonly perConnection: readonly number[];
  /** Ends all connections and refuses new ones. */
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** A port or the path of a Unix socket; a free port if absent. */
  readonly at?: number | string;
  readonly certificate?: Certificate;
  /**
   * `confirm`: reads, and closes a connection that the sender has ended. `silent`: reads, and never closes. `deaf`: accepts
   * connections and does not read. `rude`: closes each connection at once.
   */
  readonly manner?: 'confirm' | 'silent' | 'deaf' | 'rude';
}

/** Listens until the test ends. */
export async function receiveSyslog({
  at = 0,
  certificate,
  manner = 'confirm',
}: ReceiverOptions = {}): Promise<SyslogReceiver> {
  const messages: SyslogMessage[] = [];
  const perConnection: number[] = [];
  const open = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    socket.on('error', () => undefined);
    if (manner === 'rude') socket.end();
    if (manner === 'deaf') socket.pause();
    if (manner === 'rude' || manner === 'deaf') return;
    const index = perConnection.push(0) - 1;
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      const { found, rest } = framesIn(Buffer.concat([pending, chunk]));
      pending = Buffer.from(rest);
      messages.push(...found);
      perConnection[index]! += found.length;
    });
    if (manner === 'confirm') socket.on('end', () => socket.end());
  };
  const server: Server = certificate
    ? createTlsServer(
        { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key), allowHalfOpen: true },
        onConnection,
      )
    : createServer({ allowHalfOpen: true }, onConnection);
  server.on('tlsClientError', () => undefined);
  // The connections below TLS: a failed handshake leaves one open.
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  onTestFinished(close);
  await new Promise<void>(resolve =>
    typeof at === 'string' ? server.listen(at, resolve) : server.listen(at, '127.0.0.1', resolve),
  );
  return { port: (server.address() as AddressInfo).port, messages, perConnection, close };
}

/** The whole frames at the start of the bytes. */
function framesIn(bytes: Buffer): { found: SyslogMessage[]; rest: Buffer } {
  const found: SyslogMessage[] = [];
  for (let at = 0; ; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.toString('latin1', at, space));
    if (space < 0 || bytes.length < space + 1 + length) return { found, rest: bytes.subarray(at) };
    const text = bytes.toString('utf8', space + 1, space + 1 + length);
    const brace = text.indexOf('{');
    found.push({ header: text.slice(0, brace - 1), entry: JSON.parse(text.slice(brace)) });
    at = space + 1 + length;
  }
}
