/** The load, in a process of its own: reads a `LoadOrder` from argv, drives autocannon, writes a `LoadResult`. */
import autocannon from 'autocannon';

export interface LoadOrder {
  readonly url: string;
  readonly token: string | null;
  readonly connections: number;
  readonly seconds: number;
  /** `get`: paths in turn. `register`: single registrations with serials that never repeat, to the first path. */
  readonly kind: 'get' | 'register';
  readonly paths?: readonly string[];
  readonly prefix?: string;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers that were no 2xx, and errors of the socket: a figure with any is worth nothing. */
  readonly failures: number;
}

const order = JSON.parse(process.argv[2]!) as LoadOrder;
let next = 0;
const headers = {
  ...(order.token ? { authorization: `Bearer ${order.token}` } : {}),
  'content-type': 'application/json',
};

function registration(): string {
  return JSON.stringify({
    deviceType: next % 2 ? 'UKEY' : 'SIMKEY',
    serialNumber: `${order.prefix}-${next++}`,
    manufacturer: 'Bench',
    model: 'M1',
  });
}

const result = await autocannon({
  url: order.url,
  connections: order.connections,
  duration: order.seconds,
  headers,
  requests: [
    order.kind === 'get'
      ? {
          method: 'GET',
          setupRequest: (request: object) => ({ ...request, path: order.paths![next++ % order.paths!.length]! }),
        }
      : {
          method: 'POST',
          path: order.paths?.[0] ?? '/api/devices/register',
          setupRequest: (request: object) => ({ ...request, body: registration() }),
        },
  ],
});

const answer: LoadResult = {
  perSecond: result.requests.average,
  p50: result.latency.p50,
  p99: result.latency.p99,
  failures: result.non2xx + result.errors + result.timeouts,
};
process.stdout.write(JSON.stringify(answer));
