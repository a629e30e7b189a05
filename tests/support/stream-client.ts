/** A consumer of the notification stream, as a program of somebody else would write it. */
import { once } from 'node:events';
import { request } from 'node:http';
import WebSocket from 'ws';

export interface Frame {
  readonly id?: number;
  readonly type: string;
  readonly timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every shape
  readonly data: any;
}

export interface StreamClient {
  readonly ws: WebSocket;
  readonly frames: Frame[];
  /** Resolves when so many frames have come. */
  until(count: number): Promise<Frame[]>;
  /** Resolves when a frame has arrived for which this holds. */
  untilSome(holds: (frame: Frame) => boolean): Promise<Frame>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export interface StreamQuery {
  readonly token?: string;
  readonly code?: string;
  readonly since?: number | string;
  readonly types?: string;
  readonly deviceId?: string;
}

export function streamUrl(url: string, query: StreamQuery): string {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return `${url.replace(/^http/, 'ws')}/api/ws/notifications${text ? `?${text}` : ''}`;
}

/** Opens a stream; rejects where the upgrade is refused. */
export async function openStream(
  url: string,
  query: StreamQuery,
  options: WebSocket.ClientOptions = {},
): Promise<StreamClient> {
  const ws = new WebSocket(streamUrl(url, query), options);
  const frames: Frame[] = [];
  const watchers = new Set<() => void>();
  const closed = new Promise<{ code: number; reason: string }>(resolve => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  ws.on('message', data => {
    frames.push(JSON.parse(String(data)));
    for (const look of watchers) look();
  });
  const when = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        watchers.delete(look);
        resolve(found);
      };
      watchers.add(look);
      look();
      void closed.then(({ code }) => reject(new Error(`the stream was closed with ${code}`)));
    });
  await once(ws, 'open');
  ws.on('error', () => {});
  return {
    ws,
    frames,
    closed,
    until: count => when(() => (frames.length >= count ? frames.slice(0, count) : undefined)),
    untilSome: holds => when(() => frames.find(holds)),
  };
}

export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16, 1).toString('base64'),
};

/** Requests an upgrade that must be refused; `undefined` as a header omits it. Rejects if the upgrade succeeds. */
export function refusedUpgrade(
  url: string,
  pathAndQuery: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  method = 'GET',
): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const all = Object.entries({ ...handshake, ...headers }).filter(([, value]) => value !== undefined);
    const asked = request(url + pathAndQuery, { method, headers: Object.fromEntries(all), agent: false });
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('the upgrade was granted'));
    });
    asked.on('response', async response => {
      let body = '';
      for await (const piece of response) body += piece;
      resolve({ status: response.statusCode!, headers: response.headers, ...JSON.parse(body) });
    });
    asked.on('error', reject);
    asked.end();
  });
}
