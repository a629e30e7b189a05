/** A receiver of webhooks, as a user of the scheme would write it: it verifies with the package of Standard Webhooks. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { Webhook } from 'standardwebhooks';
import { listening } from './http-servers.ts';

/** A message that was received. */
export interface Post {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: { readonly id: number; readonly type: string; readonly data: Readonly<Record<string, unknown>> };
}

/** The answer of the receiver; null for none. */
export type Reply = { readonly status: number; readonly headers?: Record<string, string> } | null;

export interface Receiver {
  readonly url: string;
  /** All messages, in the order of their arrival. */
  readonly posts: readonly Post[];
  /** How it answers from now on. */
  answer(reply: Reply): void;
  /** Resolves when this many messages have arrived. */
  arrived(count: number): Promise<void>;
  /** The messages that it took, after their signatures were verified. */
  verified(secret: string): readonly Post[];
}

export const taken: Reply = { status: 204 };

/** Listens on loopback until the test ends. With `tls` over HTTPS. */
export async function startReceiver(first: Reply = taken, tls?: ServerOptions): Promise<Receiver> {
  const posts: Post[] = [];
  const waiting = new Set<() => void>();
  const accepted: Post[] = [];
  let reply = first;
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', text => {
      body += text;
    });
    request.on('end', () => {
      const post = {
        id: String(request.headers['webhook-id']),
        headers: request.headers,
        body,
        event: JSON.parse(body),
      };
      posts.push(post);
      if (reply !== null && reply.status < 300) accepted.push(post);
      if (reply) response.writeHead(reply.status, reply.headers).end();
      for (const look of waiting) look();
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const { url } = await listening(server, { scheme: tls === undefined ? 'http' : 'https' });
  return {
    url: `${url}/hook`,
    posts,
    answer: next => {
      reply = next;
    },
    arrived: count =>
      new Promise(resolve => {
        const look = () => {
          if (posts.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    verified(secret) {
      const webhook = new Webhook(secret);
      for (const { body, headers } of accepted) webhook.verify(body, headers as Record<string, string>);
      return accepted;
    },
  };
}
