/**
 * One HTTP request and its answer, over node:http. The modules are fetched when they are needed: an `import` of them
 * would load far more than a command that asks one question can afford.
 */
import type { Agent, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http';
import { Fault, interrupted, systemCode } from '../fault.ts';
import { linkFailure, Unreachable } from './failures.ts';

export type Body = string | AsyncIterable<Uint8Array>;

export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Body | undefined;
  /** Certificates (PEM) to trust in place of the system's. */
  readonly ca?: string | undefined;
  /** The certificate is not judged. Only where nothing secret is asked or told. */
  readonly anyCertificate?: true;
  readonly signal: AbortSignal;
  /** How long nothing may come and go (`timeouts.idleMs`). */
  readonly idleMs?: number;
  /** May use a connection of an earlier request. Only for what can be sent twice: the server may just be closing it. */
  readonly reuse: boolean;
}

export const timeouts = {
  connectMs: 10_000,
  /** Nothing came and nothing went. */
  idleMs: 15_000,
  /** The same where the server has much to do before it answers: a batch, a file that has to reach the disk. */
  patientMs: 120_000,
  /** A JSON answer that is still not complete. */
  answerMs: 30_000,
} as const;

const probeMs = 2_000;
const maxAnswerBytes = 64 * 1024 * 1024;

const http = () => process.getBuiltinModule('node:http');
const https = () => process.getBuiltinModule('node:https');
const agents = new Map<string, Agent>();

function agentFor(protocol: string, reuse: boolean): Agent {
  const name = `${protocol}${reuse}`;
  let agent = agents.get(name);
  if (!agent) {
    const options = { keepAlive: reuse, maxSockets: reuse ? 4 : Number.POSITIVE_INFINITY };
    agent = protocol === 'https:' ? new (https().Agent)(options) : new (http().Agent)(options);
    agents.set(name, agent);
  }
  return agent;
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Resolves with the head of the answer; its body is still to be read. */
export function send(request: Request): Promise<IncomingMessage> {
  const { url, signal } = request;
  if (signal.aborted) return Promise.reject(interrupted());
  const options: RequestOptions & { ca?: string; rejectUnauthorized?: boolean } = {
    method: request.method,
    headers: request.headers,
    agent: agentFor(url.protocol, request.reuse),
    ...(request.ca === undefined ? {} : { ca: request.ca }),
    ...(request.anyCertificate ? { rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? https() : http()).request(url, options);
    const onAbort = () => outgoing.destroy(interrupted());
    let connecting: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(connecting);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort);
    // A request that waits for the connection of another is not one that gets none.
    outgoing.on('socket', socket => {
      if (!socket.connecting) return;
      const late = () => outgoing.destroy(coded('ECONNECT_TIMEOUT', 'no connection'));
      connecting = setTimeout(late, timeouts.connectMs);
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
    });
    const { idleMs = timeouts.idleMs } = request;
    let head: IncomingMessage | undefined;
    outgoing.setTimeout(idleMs, () =>
      (head ?? outgoing).destroy(coded('EIDLE', `nothing for ${idleMs / 1000} seconds`)),
    );
    outgoing.once('response', answer => {
      settle();
      head = answer;
      resolve(answer);
    });
    outgoing.on('error', error => {
      settle();
      failureOf(error, url).then(reject, reject);
    });
    if (request.body === undefined || typeof request.body === 'string') outgoing.end(request.body);
    else void pour(request.body, outgoing);
  });
}

/** What came in place of an answer. A server of TLS hangs up on plain HTTP without a word: that is found out. */
async function failureOf(error: Error, url: URL): Promise<Fault> {
  if (error instanceof Fault) return error;
  if (url.protocol === 'http:' && systemCode(error) === 'ECONNRESET' && (await speaksTls(url)))
    return new Fault(
      'unreachable',
      `${url.origin} speaks HTTPS`,
      `use https:// in place of http://: --server ${url.origin.replace('http:', 'https:')}`,
    );
  return linkFailure(error, url.origin);
}

function speaksTls({ hostname, port }: URL): Promise<boolean> {
  return new Promise(resolve => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const options = { host, port: Number(port || 80), rejectUnauthorized: false, timeout: probeMs };
    const socket = process.getBuiltinModule('node:tls').connect(options);
    const found = (isTls: boolean) => {
      socket.destroy();
      resolve(isTls);
    };
    socket.once('secureConnect', () => found(true)).once('timeout', () => found(false));
    socket.on('error', () => found(false)).once('close', () => found(false));
  });
}

/** Resolves when the server has taken what was sent, or will take no more. */
function room(outgoing: import('node:http').ClientRequest): Promise<void> {
  return new Promise(resolve => {
    const events = ['drain', 'close', 'response'] as const;
    const settle = () => {
      for (const event of events) outgoing.off(event, settle);
      resolve();
    };
    for (const event of events) outgoing.on(event, settle);
  });
}

/** Sends a body piece by piece, no faster than the server takes it. A source that fails ends the request with its error. */
async function pour(body: AsyncIterable<Uint8Array>, outgoing: import('node:http').ClientRequest): Promise<void> {
  let answered = false;
  outgoing.once('response', () => {
    answered = true;
  });
  try {
    for await (const chunk of body) {
      // A refusal may come before everything has been sent; the rest would be sent in vain.
      if (answered || outgoing.destroyed) return;
      if (outgoing.write(chunk)) continue;
      await room(outgoing);
    }
    outgoing.end();
  } catch (error) {
    outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** The whole body as text. A connection that breaks off in the middle is `Unreachable`. */
export function readText(answer: IncomingMessage, origin: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (error: Error) => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      reject(error);
      answer.destroy();
    };
    const onAbort = () => fail(interrupted());
    const deadline = setTimeout(
      () => fail(new Unreachable(`${origin} did not finish its answer in time`, true, null, true)),
      timeouts.answerMs,
    );
    signal.addEventListener('abort', onAbort);
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes)
        fail(new Fault('failure', `the answer of ${origin} is too large to be one of a devmgr server`));
      else chunks.push(chunk);
    });
    answer.on('error', error => fail(linkFailure(error, origin)));
    answer.on('end', () => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      resolve(Buffer.concat(chunks, size).toString('utf8'));
    });
  });
}
