/** A bare `ws` server: a POST has it send one text of a given length to everybody, in a loop, as anybody would write it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const text = 'x'.repeat(Number(process.argv[2]));
const server = createServer((request, response) => {
  request.resume();
  if (request.method === 'POST') for (const client of sockets.clients) client.send(text);
  response.setHeader('content-length', 2).end('ok');
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ event: 'listening', url })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
