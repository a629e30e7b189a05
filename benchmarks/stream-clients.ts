/**
 * Thousands of listeners on bare sockets. Reads an `Audience` from argv and writes a line when all of them are connected; for each
 * line on stdin, posts its text and writes how long it took until the last listener had the notification of it.
 */
import { createInterface } from 'node:readline';
import { Client } from './connection.ts';
import { listen } from './listener.ts';

export interface Audience {
  readonly url: string;
  readonly token: string | null;
  readonly sockets: number;
  /** The address of the stream, and that of the posts. */
  readonly stream: string;
  readonly post: string;
}

export interface Round {
  /** Milliseconds from the request to the last listener. */
  readonly ms: number;
  /** Bytes of a notification. */
  readonly bytes: number;
}

const audience = JSON.parse(process.argv[2]!) as Audience;
let told = 0;
let bytes = 0;
let allTold: () => void = () => {};

async function join(): Promise<void> {
  const socket = await listen(audience.url, audience.stream, length => {
    bytes = length;
    if (++told === audience.sockets) allTold();
  });
  socket.on('close', () => {
    throw new Error('a listener was cut off');
  });
}

for (let open = 0; open < audience.sockets; open += 200)
  await Promise.all(Array.from({ length: Math.min(200, audience.sockets - open) }, join));
const client = new Client(audience.url, audience.token);
process.stdout.write(`${JSON.stringify({ sockets: audience.sockets })}\n`);
for await (const text of createInterface({ input: process.stdin })) {
  told = 0;
  const last = new Promise<void>(resolve => {
    allTold = resolve;
  });
  const begun = performance.now();
  await Promise.all([last, client.send(client.requests.post(audience.post, text))]);
  const round: Round = { ms: performance.now() - begun, bytes };
  process.stdout.write(`${JSON.stringify(round)}\n`);
}
process.exit(0);
