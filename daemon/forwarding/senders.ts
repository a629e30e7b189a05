/** Delivers journal entries to a target. A delivery resolves only when the receiver has confirmed that it read them all. */
import { readFile } from 'node:fs/promises';
import { connect as connectTcp, isIP, type NetConnectOpts, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { Outgoing } from '../base/outgoing.ts';
import type { ForwardTarget, HttpTarget, SyslogTarget } from '../home/forward-target.ts';
import type { AuditLine } from '../requests/audit-line.ts';

/** Delivers lines in their order. Rejects if it is not certain that all of them arrived. */
export type Send = (lines: readonly AuditLine[], signal: AbortSignal) => Promise<void>;

/** How long a receiver may be silent. */
const SILENCE_MS = 10_000;
/** A receiver that closes within this time after it has the data was about to close: it may not have read them. */
const LINGER_MS = 100;

/** The way to deliver to a target. */
export const senderTo = (target: ForwardTarget): Send =>
  target.kind === 'http'
    ? (lines, signal) => sendHttp(target, lines, signal)
    : (lines, signal) => sendSyslog(target, lines, signal);

/**
 * Syslog confirms nothing, and data that the system has taken can still be lost. So each delivery has a connection of its own:
 * the sender ends its side, and a receiver that has read everything to the end closes the other side.
 */
async function sendSyslog(target: SyslogTarget, lines: readonly AuditLine[], signal: AbortSignal): Promise<void> {
  const socket = await open(target);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => {});
  const abort = () => socket.destroy(new Error('stopped'));
  signal.addEventListener('abort', abort, { once: true });
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the connection was closed before the entries were sent')));
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error(`no reaction for ${SILENCE_MS / 1000} s`)));
  // A receiver sends nothing back; what it does send is dropped.
  socket.resume();
  try {
    if (signal.aborted) abort();
    const early = new Promise<never>((_, reject) => {
      socket.once('end', () => reject(new Error('the receiver closed the connection before it had read the entries')));
    });
    early.catch(() => {});
    await Promise.race([lost, early, write(socket, lines)]);
    await Promise.race([lost, early, sleep(LINGER_MS, undefined, { signal })]);
    const read = new Promise<void>(resolve => socket.once('end', resolve));
    socket.end();
    await Promise.race([lost, read]);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

const write = (socket: Socket, lines: readonly AuditLine[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const frames = Buffer.concat(lines.map(line => syslogFrame(line)));
    socket.write(frames, error => (error ? reject(error) : resolve()));
  });

/** Writes wait until the connection is established and, with TLS, the certificate was verified. */
async function open({ kind, host, port, path, caFile }: SyslogTarget): Promise<Socket> {
  if (kind === 'unix') return connectTcp({ path, allowHalfOpen: true });
  if (kind === 'tcp') return connectTcp({ host, port, allowHalfOpen: true });
  const options: ConnectionOptions & NetConnectOpts = { host, port, allowHalfOpen: true, ...(await trust(caFile)) };
  return connectTls(isIP(host) ? options : { ...options, servername: host });
}

const trust = async (caFile: string | null): Promise<{ readonly ca?: Buffer }> =>
  caFile === null ? {} : { ca: await readFile(caFile) };

/** A 2xx status confirms the whole body. A redirect is an error: the token is for this server only. */
async function sendHttp(target: HttpTarget, lines: readonly AuditLine[], signal: AbortSignal): Promise<void> {
  const { url, token, caFile } = target;
  const body = lines.map(line => `${JSON.stringify(line)}\n`).join('');
  const secret = token === null ? null : 'text' in token ? token.text : (await readFile(token.file, 'utf8')).trim();
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
  };
  const outgoing = new Outgoing({ ...(await trust(caFile)), silenceMs: SILENCE_MS });
  const { status } = await outgoing.send({ url: new URL(url), method: 'POST', headers, body, signal });
  if (status < 200 || status > 299) throw new Error(`the response is ${status}`);
}

/** Facility 13 (log audit), severity 6 (informational). */
const PRIORITY = 13 * 8 + 6;
const APP_NAME = 'devmgr';
const NO_VALUE = '-';

/** A header field: printable ASCII without spaces, of bounded length. */
const field = (text: string, length: number): string => text.replaceAll(/[^!-~]/g, '').slice(0, length) || NO_VALUE;

/**
 * A journal entry as a syslog message (RFC 5424) with its length in front (RFC 6587, RFC 5425). Its text is the entry as JSON,
 * whose `id` shows gaps and repetitions; JSON escapes line breaks and control characters.
 */
function syslogFrame(line: AuditLine, host = hostname()): Buffer {
  const header = [
    `<${PRIORITY}>1`,
    line.timestamp,
    field(host, 255),
    APP_NAME,
    NO_VALUE,
    field(line.type, 32),
    NO_VALUE,
  ];
  const message = Buffer.from(`${header.join(' ')} ${JSON.stringify(line)}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}
