/** A Fastify that answers with one row of a table: a prepared SELECT by its key, pipelined by `pg` on two connections. */
import fastify from 'fastify';
import pg from 'pg';

const url = process.argv[2]!;
const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : String) };
const clients = Array.from(
  { length: 2 },
  () => new pg.Client({ connectionString: url, types, pipeline: true } as unknown as pg.ClientConfig),
);
await Promise.all(clients.map(client => client.connect()));
const text = 'SELECT * FROM device WHERE number = $1';
let turn = 0;

const app = fastify();
app.get('/', (_request, reply) => {
  reply.send('ready');
});
app.get('/api/devices/:id', async (request, reply) => {
  const number = Number((request.params as { id: string }).id.slice(4));
  const { rows } = await clients[turn++ & 1]!.query({ name: 'device', text, values: [number] });
  reply.header('content-type', 'application/json; charset=utf-8');
  return JSON.stringify({ code: 200, message: 'success', data: rows[0] });
});
const listening = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ event: 'listening', url: listening })}\n`);
process.on('SIGTERM', () => process.exit(0));
