/** Requests on the Unix socket of a daemon. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';

export interface SocketAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly code: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  readonly data: any;
}

export interface SocketRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const socketIn = (home: string): string => join(home, 'daemon.sock');

/** One request on the socket of a home, on a connection of its own. A response without an envelope has the code 0. */
export function callSocket(
  home: string,
  { path, method = 'GET', headers, body }: SocketRequest,
): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const content = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { socketPath: socketIn(home), path, method, headers: { ...content, ...headers }, agent: false };
    const asked = request(options, async response => {
      let text = '';
      for await (const piece of response) text += piece;
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      const envelope = isJson ? JSON.parse(text) : { code: 0, message: text, data: null };
      resolve({ status: response.statusCode!, headers: response.headers, ...envelope });
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
