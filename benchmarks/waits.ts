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
  /** How long they are asked for, in turn; eight times each at least. */
  readonly seconds: number;
  readonly other: string;
}

export interface WaitResult {
  /** Milliseconds of each path, in the order they were measured. */
  readonly answers: readonly (readonly number[])[];
  /** The other client at the same time. */
  readonly beside: Waits;
  /** The other client for the same time without that load, in turn with `beside`: the noise of the machine in the same second. */
  readonly alone: Waits;
}

export interface Waits {
  readonly asked: number;
  /** Milliseconds. */
  readonly longest: number;
  /** How many waits were longer than 10 ms. */
  readonly late: number;
}

/** The slices of each, so that other load of the machine affects both alike. */
const stretches = 4;

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

const answers = order.paths.map((): number[] => []);

async function askAll(seconds: number): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (let i = 0; i < 2 || performance.now() < until; i++)
    for (const [place, path] of order.paths.entries()) answers[place]!.push((await client.get(path)).ms);
}

const together = (all: readonly Waits[]): Waits => ({
  asked: all.reduce((sum, { asked }) => sum + asked, 0),
  longest: Math.max(...all.map(({ longest }) => longest)),
  late: all.reduce((sum, { late }) => sum + late, 0),
});

await probe(askAll(0));
for (const times of answers) times.length = 0;
const beside: Waits[] = [];
const alone: Waits[] = [];
for (let i = 0; i < stretches; i++) {
  const begun = performance.now();
  beside.push(await probe(askAll(order.seconds / stretches)));
  alone.push(await probe(pause(performance.now() - begun)));
}
const result: WaitResult = { answers, beside: together(beside), alone: together(alone) };
process.stdout.write(JSON.stringify(result));
client.end();
other.end();
