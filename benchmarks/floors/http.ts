/**
 * The speed of a Fastify that does nothing else on this machine: `/static` answers a fixed envelope, `/api/devices/register`
 * parses the body and answers without a database, `/commit/…` stores one row in a durable transaction of its own.
 */
import fastify from 'fastify';
import { openDurable } from './durable.ts';

const [, , file, envelope] = process.argv;
const app = fastify();
const type = 'application/json; charset=utf-8';
app.get('/', (_request, reply) => {
  reply.send('ready');
});
app.get('/static', (_request, reply) => {
  reply.header('content-type', type).send(envelope);
});

let count = 0;
const answer = (serialNumber: unknown) =>
  JSON.stringify({
    code: 200,
    message: 'success',
    data: {
      deviceId: `DEV-${++count}`,
      deviceType: 'UKEY',
      serialNumber,
      manufacturer: 'Bench',
      model: 'M1',
      status: 'INACTIVE',
      activationCode: 'AAAA-BBBB-CCCC-DDDD',
      createdAt: '2026-01-01T00:00:00.000Z',
    },
  });
app.post('/api/devices/register', (request, reply) => {
  reply.header('content-type', type).send(answer((request.body as { serialNumber: string }).serialNumber));
});

const db = await openDurable(file!);
db.exec(
  'CREATE TABLE IF NOT EXISTS d (id INTEGER PRIMARY KEY, type TEXT, serial TEXT UNIQUE, manufacturer TEXT, model TEXT, status TEXT, code TEXT, at INTEGER)',
);
const insert = db.prepare(
  `INSERT INTO d (type, serial, manufacturer, model, status, code, at)
   VALUES (?, ?, ?, ?, 'INACTIVE', 'AAAA-BBBB-CCCC-DDDD', 0)`,
);
app.post('/commit/api/devices/register', (request, reply) => {
  const body = request.body as Record<string, string>;
  insert.run(body.deviceType, body.serialNumber, body.manufacturer, body.model);
  reply.header('content-type', type).send(answer(body.serialNumber));
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ event: 'listening', url })}\n`);
process.on('SIGTERM', () => process.exit(0));
