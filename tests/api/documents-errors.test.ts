/** Examples and headers of the errors that any operation can have (1001, 429, 500, 503) are compared with real responses. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Code, codes, type ErrorCode } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { rateLimits } from '../../src/contract/limits.ts';
import { inputExample } from '../../src/contract/openapi/examples.ts';
import { unknownParameter } from '../../src/contract/openapi/messages.ts';
import { buildOpenapi } from '../../src/contract/openapi.ts';
import { routes } from '../../src/contract/routes.ts';
import { type Answer, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { form } from '../support/fleet.ts';
import { callerFor } from '../support/holder.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';

const document = JSON.parse(JSON.stringify(buildOpenapi('0.0.0')));
const shapes = Object.values<RouteShape>(routes).filter(({ websocket }) => !websocket);

/** The example of an error of an operation, and the headers that its description names. */
function described({ path, method }: RouteShape, status: number, code: ErrorCode) {
  const found = document.paths[path][method.toLowerCase()].responses[status];
  const response = found.$ref ? document.components.responses[found.$ref.split('/').at(-1)] : found;
  const { message, details = null } = response.content['application/json'].examples[codes[code].name].value;
  return { message, details, headers: Object.keys(response.headers) };
}

interface Sent {
  readonly token?: string | null;
  readonly body?: object | undefined;
  readonly query?: string;
}

let daemon: TestDaemon;
function send(shape: RouteShape, { body, query = '', ...options }: Sent): Promise<Answer> {
  const path = shape.path.replace(/\{(\w+)\}/g, (_, name: string) => shape.example?.params?.[name] ?? 'none') + query;
  if (shape.form) return daemon.call(shape.method, path, undefined, { ...options, ...strict, raw: form({}) });
  return daemon.call(shape.method, path, body, { ...options, ...strict });
}
const strict = { headers: { prefer: 'handling=strict' } };

/** A refusal that changes nothing, whatever the operation. */
const unknown = `?${unknownParameter.field}=alice`;
const bodyOf = (shape: RouteShape) => (shape.body ? inputExample(shape) : undefined);

/** Headers of the description that a response lacks: other ones than those of a daemon with a name and of a repeated request. */
const lacking = ({ headers }: Answer, names: readonly string[]) =>
  names.filter(name => !headers.has(name) && !/^(X-Devmgr-Node|Idempotent-Replay)$/.test(name));

/** All limits, with this number of requests. */
const limitsOf = (count: number) =>
  Object.fromEntries(Object.keys(rateLimits).map(scope => [scope, { count, seconds: 60 }])) as typeof rateLimits;

const withoutSeconds = (message: string) => message.replace(/\d+(?= s$)/, 'N');

describe('the example of', () => {
  let as: Awaited<ReturnType<typeof callerFor>>;
  beforeAll(async () => {
    daemon = await startTestDaemon();
    as = await callerFor(daemon);
    await daemon.restart({ limits: limitsOf(1000) });
  });
  afterAll(() => daemon.stop());

  // The refusals of these depend on what is stored: other tests compare them.
  const ofState = ['removeProvider'];
  const compared = shapes.filter(({ id }) => !ofState.includes(id));
  it.each(compared.map(shape => [shape.id, shape] as const))('1001 of %s is what it returns', async (id, shape) => {
    const { headers, ...example } = described(shape, 400, Code.parameterError);
    const isOfAny = example.details[0].field === unknownParameter.field;
    const answer = await send(shape, {
      ...as(shape),
      ...(isOfAny ? { query: unknown, body: bodyOf(shape) } : { body: shape.body ? {} : undefined }),
    });
    const { message, details } = answer as Answer & { readonly details: object };
    expect({ message, details }, id).toEqual(example);
    expect(lacking(answer, headers), id).toEqual([]);
  });
});

describe('a limit', () => {
  const limited = shapes.filter(({ limit }) => limit);
  let as: Awaited<ReturnType<typeof callerFor>>;
  beforeAll(async () => {
    daemon = await startTestDaemon();
    as = await callerFor(daemon);
    await daemon.restart({ limits: limitsOf(1) });
  });
  afterAll(() => daemon.stop());

  it.each(limited.map(shape => [shape.id, shape] as const))('of %s is answered as its example', async (_, shape) => {
    const call = () => send(shape, { ...as(shape), query: unknown, body: bodyOf(shape) });
    // The first request to one of the operations that share a window uses it up.
    const first = await call();
    const answer = first.status === 429 ? first : await call();
    const { headers, message } = described(shape, 429, 429);
    expect([answer.status, answer.code]).toEqual([429, 429]);
    expect(withoutSeconds(answer.message)).toBe(withoutSeconds(message));
    expect(answer.message).toContain(`in ${answer.headers.get('retry-after')} s`);
    expect(lacking(answer, headers)).toEqual([]);
  });
});

/** Operations that read and change what the store has. */
const ofStore = [routes.listPeople, routes.getPerson, routes.createPerson, routes.listAppVersions, routes.getReceipt];

/** How the response to each of them differs from the example. */
async function storeFaults(status: 500 | 503) {
  const found = [];
  for (const shape of ofStore as readonly RouteShape[]) {
    const answer = await send(shape, { body: bodyOf(shape) });
    const { message, headers } = described(shape, status, 500);
    const real = {
      status: answer.status,
      code: answer.code,
      message: answer.message,
      lacking: lacking(answer, headers),
    };
    found.push({ id: shape.id, real, example: { status, code: 500, message, lacking: [] } });
  }
  return found;
}

describe('a store in which tables are missing', () => {
  beforeAll(async () => {
    daemon = await startTestDaemon({ limits: limitsOf(1000) });
  });
  afterAll(() => daemon.stop());

  it('is answered as the example of 500', async () => {
    const database = new Database(join(daemon.home, 'devmgr.db'));
    for (const table of ['person', 'app', 'receipt']) database.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`);
    database.close();
    for (const { id, real, example } of await storeFaults(500)) expect(real, id).toEqual(example);
  });
});

needsPostgres('a database that is away', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    const store = { url: server.url(await server.database()), env: {} };
    daemon = await startTestDaemon({ store, limits: limitsOf(1000) });
  });
  afterAll(async () => {
    await daemon?.stop();
    await server?.stop();
  });

  it('is answered as the example of 503', async () => {
    await server.kill();
    for (const { id, real, example } of await storeFaults(503)) expect(real, id).toEqual(example);
  });
});
