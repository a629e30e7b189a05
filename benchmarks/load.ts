/**
 * The load, in a process of its own: reads a `LoadOrder` from argv, writes a `LoadResult`. It shares the machine with what it
 * measures, so that it does as little as it can: a client that takes more time than the server would show its own limit as
 * the server's.
 */
import { type Answer, Connection, Requests } from './connection.ts';

export interface LoadOrder {
  readonly url: string;
  /** Further servers: each connection is to one of them, in turn. They accept the same token. */
  readonly others?: readonly string[];
  readonly token: string | null;
  readonly connections: number;
  readonly seconds: number;
  /**
   * `get`: paths in turn. `decide`: a decision about a serial number, those of `paths` in turn. `register`: single registrations with
   * serials that never repeat, to the first path.
   */
  readonly kind: 'get' | 'decide' | 'register';
  readonly paths: readonly string[];
  readonly prefix?: string;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** Answers that were no 200, and broken connections: a figure with any is worth nothing. */
  readonly failures: number;
  /** One of the answers. */
  readonly sample: string;
  /** Share of the time for which the load itself was at work, 0 to 1: near 1 it is the load that was measured. */
  readonly busy: number;
}

const order = JSON.parse(process.argv[2]!) as LoadOrder;
const urls = [order.url, ...(order.others ?? [])];
const requests = new Requests(order.url, order.token);
const written = {
  get: (path: string) => requests.get(path),
  decide: (serialNumber: string) => requests.post('/api/decisions', JSON.stringify({ questions: [{ serialNumber }] })),
};
const inTurn =
  order.kind === 'register' ? [] : order.paths.map(written[order.kind]).map(request => Buffer.from(request));
const latencies: number[] = [];
let made = 0;
let failures = 0;
let sample = '';
let over = false;

function nextRequest(): Buffer | string {
  const n = made++;
  if (order.kind !== 'register') return inTurn[n % inTurn.length]!;
  const type = n % 2 ? 'UKEY' : 'SIMKEY';
  return requests.post(
    order.paths[0]!,
    `{"deviceType":"${type}","serialNumber":"${order.prefix}-${n}","manufacturer":"Bench","model":"M1"}`,
  );
}

/** One request after the other on one connection; resolves when the last answer is there. */
function drive(place: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const connection = new Connection(urls[place % urls.length]!, () => {
    failures++;
    resolve();
  });
  connection.keepsBodies = sample === '';
  const take = ({ status, ms, body }: Answer) => {
    latencies.push(ms);
    if (status !== 200) failures++;
    if (connection.keepsBodies) {
      sample ||= body;
      connection.keepsBodies = false;
    }
    if (!over) return connection.exchange(nextRequest(), take);
    connection.end();
    resolve();
  };
  connection.exchange(nextRequest(), take);
  return promise;
}

const begun = performance.now();
const cpu = process.cpuUsage();
setTimeout(() => {
  over = true;
}, order.seconds * 1000);
await Promise.all(Array.from({ length: order.connections }, (_, place) => drive(place)));
const wall = performance.now() - begun;
const { user, system } = process.cpuUsage(cpu);
const sorted = Float64Array.from(latencies).sort();
const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const result: LoadResult = {
  perSecond: latencies.length / (wall / 1000),
  p50: at(0.5),
  p99: at(0.99),
  longest: at(1),
  failures,
  sample,
  busy: (user + system) / 1000 / wall,
};
process.stdout.write(JSON.stringify(result));
