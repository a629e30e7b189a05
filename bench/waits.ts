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
  /** The other client meanwhile. */
  readonly beside: Waits;
  /** The other client for as long again with nobody beside it: the noise of the machine. */
  readonly alone: Waits;
}

export interface Waits {
  readonly asked: number;
  /** Milliseconds. */
  readonly longest: number;
  /** How many waits were longer than 10 ms. */
  readonly late: number;
}

const order = JSON.parse(process.argv[2]!) as WaitOrder;
const client = new Client(order.url, order.token);
const other = new Client(order.url, order.token);

async function probe(until: Promise<unknown>): Promise<Waits> {
  let over = false;
  void until.then(() => {
    over = true;
  });
  let [longest, asked, late] = [0, 0, 0];
  for (; !over; asked++) {
    const { ms } = await other.get(order.other);
    longest = Math.max(longest, ms);
    if (ms > 10) late++;
    await pause(1);
  }
  return { asked, longest, late };
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
const beside = await probe(asking);
const lasted = performance.now() - begun;
const alone = await probe(pause(lasted));
const result: WaitResult = { answers: await asking, beside, alone };
process.stdout.write(JSON.stringify(result));
client.end();
other.end();
