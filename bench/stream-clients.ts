/**
 * Thousands of listeners on bare sockets. Reads an `Audience` from argv and writes a line when all of them are connected; for each
 * line on stdin, posts its text and writes how long it took until the last listener had the notification of it.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Client } from './connection.ts';

export interface Audience {
  readonly url: string;
  readonly token: string | null;
  readonly sockets: number;
  /** What is connected to, and what is posted to. */
  readonly stream: string;
  readonly post: string;
}

export interface Round {
  /** Milliseconds from the request to the last listener. */
  readonly ms: number;
  /** Bytes of a notification. */
  readonly bytes: number;
}

const PING = 0x89;
const maskedPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const audience = JSON.parse(process.argv[2]!) as Audience;
const { hostname, port, host } = new URL(audience.url);
let told = 0;
let bytes = 0;
let allTold: () => void = () => {};

async function listen(): Promise<void> {
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${audience.stream} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`refused: ${head}`);
  takeFrames(socket);
}

/** Counts the frames of one listener; between two rounds there is at most one of them, and a ping. */
function takeFrames(socket: Socket): void {
  let missing = 0;
  socket.on('data', (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      if (missing === 0) {
        const length = chunk[at + 1]!;
        if (chunk[at] === PING) {
          socket.write(maskedPong);
          at += 2;
          continue;
        }
        bytes = length === 126 ? chunk.readUInt16BE(at + 2) : length;
        missing = bytes + (length === 126 ? 4 : 2);
      }
      const taken = Math.min(missing, chunk.length - at);
      at += taken;
      missing -= taken;
      if (missing === 0 && ++told === audience.sockets) allTold();
    }
  });
  socket.on('close', () => {
    throw new Error('a listener was cut off');
  });
}

for (let open = 0; open < audience.sockets; open += 200)
  await Promise.all(Array.from({ length: Math.min(200, audience.sockets - open) }, listen));
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
