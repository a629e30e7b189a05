/**
 * One client that asks for this and that, while another asks for one device every millisecond: how long the first waits for its
 * answers, and the second because of them. Reads a `WaitOrder` from argv, writes a `WaitResult`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from './connection.ts';

export interface WaitOrder {
  readonly url: string;
  readonly token: string;
  readonly paths: readonly string[];
  /** How long they are asked for, in turn; five times each at least. */
  readonly seconds: number;
  readonly other: string;
}

export interface WaitResult {
  /** Milliseconds of each path, in the order they were measured. */
  readonly answers: readonly (readonly number[])[];
  /** Milliseconds of the other client: the longest, and how often it asked. */
  readonly longest: number;
  readonly asked: number;
  /** The longest of the other client for as long again with nobody beside it: the noise of the machine. */
  readonly longestAlone: number;
}

const order = JSON.parse(process.argv[2]!) as WaitOrder;
const client = new Client(order.url, order.token);
const other = new Client(order.url, order.token);

async function probe(until: Promise<unknown>): Promise<{ longest: number; asked: number }> {
  let over = false;
  void until.then(() => {
    over = true;
  });
  let [longest, asked] = [0, 0];
  for (; !over; asked++) {
    longest = Math.max(longest, (await other.get(order.other)).ms);
    await pause(1);
  }
  return { longest, asked };
}

async function askAll(seconds: number, atLeast: number): Promise<number[][]> {
  const answers = order.paths.map((): number[] => []);
  const until = performance.now() + seconds * 1000;
  for (let i = 0; i < atLeast || performance.now() < until; i++)
    for (const [place, path] of order.paths.entries()) answers[place]!.push((await client.get(path)).ms);
  return answers;
}

await probe(askAll(0, 2));
const begun = performance.now();
const asking = askAll(order.seconds, 5);
const { longest, asked } = await probe(asking);
const lasted = performance.now() - begun;
const alone = await probe(pause(lasted));
const result: WaitResult = { answers: await asking, longest, asked, longestAlone: alone.longest };
process.stdout.write(JSON.stringify(result));
client.end();
other.end();
