/**
 * Many requests at the same moment, and a second thread that asks for the health of the daemon every millisecond until all are answered.
 * Reads a `BurstOrder` from the file that argv names, writes a `BurstResult`.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface BurstOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method: string;
  /** Sent in turn. */
  readonly sent: readonly BurstRequest[];
  /** Body of requests that have none of their own; absent if they have none. */
  readonly body?: string;
  readonly requests: number;
}

export interface BurstRequest {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BurstResult {
  /** Milliseconds until all requests were answered. */
  readonly took: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds of the longest answer of health, and how many there were. */
  readonly longest: number;
  readonly asked: number;
}

/** Sends one request and reads its answer; resolves to the status. */
function ask(
  url: string,
  {
    agent,
    method = 'GET',
    headers = {},
    body,
  }: { agent: Agent; method?: string; headers?: object; body?: Buffer | undefined },
): Promise<number> {
  return new Promise(resolve => {
    const sent = request(url, { agent, method, headers: { ...headers } }, response => {
      response.resume().on('close', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}

async function watchHealth(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  let longest = 0;
  let asked = 0;
  let ended = false;
  parentPort!.once('message', () => {
    ended = true;
  });
  await ask(`${url}/api/health`, { agent });
  parentPort!.postMessage('ready');
  while (!ended) {
    const begun = performance.now();
    await ask(`${url}/api/health`, { agent });
    longest = Math.max(longest, performance.now() - begun);
    asked++;
    await new Promise(resolve => setTimeout(resolve, 1));
  }
  agent.destroy();
  parentPort!.postMessage({ longest, asked });
  parentPort!.close();
}

async function burst({ url, headers, method, sent, body: shared, requests }: BurstOrder): Promise<BurstResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: requests });
  // The connections are open before the burst.
  await Promise.all(Array.from({ length: requests }, () => ask(`${url}/api/health`, { agent })));
  const worker = new Worker(import.meta.filename, { workerData: url });
  const heard = () => new Promise<{ longest: number; asked: number }>(resolve => worker.once('message', resolve));
  await heard();
  const content = shared === undefined ? undefined : Buffer.from(shared);
  const all = sent.map(one => ({
    ...one,
    headers: { ...headers, ...one.headers },
    body: one.body === undefined ? content : Buffer.from(one.body),
  }));
  const begun = performance.now();
  const statuses: Record<string, number> = {};
  await Promise.all(
    Array.from({ length: requests }, async (_, i) => {
      const { path, ...one } = all[i % all.length]!;
      const status = await ask(url + path, { agent, method, ...one });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }),
  );
  const took = performance.now() - begun;
  worker.postMessage('end');
  const { longest, asked } = await heard();
  agent.destroy();
  return { took, statuses, longest, asked };
}

if (isMainThread)
  process.stdout.write(JSON.stringify(await burst(JSON.parse(await readFile(process.argv[2]!, 'utf8')))));
else await watchHealth(workerData as string);
