/** How many SCIM requests of a token are carried out at once, counted at a service that answers when the test allows it. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildServer } from '../../daemon/http/server.ts';
import type { TokenCheck } from '../../daemon/requests/token-check.ts';
import { scimErrors } from '../../daemon/scim/http-error.ts';
import { scimRoutes } from '../../daemon/scim/routes.ts';
import { scimBounds } from '../../src/contract/limits.ts';

/** Answers of the service that wait. */
let waiting: (() => void)[] = [];
/** Resolves when so many wait. */
const whenWaiting = async (count: number) => {
  while (waiting.length < count) await new Promise(setImmediate);
};
const users = {
  list: () =>
    new Promise(resolve => {
      waiting.push(() => resolve({ rows: [], total: 0 }));
    }),
};
const tokens = {
  check: async (token: string) => ({ serviceToken: { number: Number(token), may: ['scim'] } }),
} as unknown as TokenCheck;

let app: Awaited<ReturnType<typeof buildServer>>;
let port: number;
beforeAll(async () => {
  const options = { logger: pino({ level: 'silent' }), origin: { hosts: null }, trustProxy: [] };
  app = await buildServer({ ...options, errorForms: [scimErrors] }, [
    server => scimRoutes(server, { tokens, scim: { users, groups: {}, refused: {} } as never }),
  ]);
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
});
afterAll(() => app?.close());
beforeEach(() => {
  waiting = [];
});

interface Sent {
  readonly answer: Promise<{ status: number; headers: IncomingMessage['headers']; body: { detail?: string } }>;
  /** As a client that goes away. */
  end(): void;
}

function send(token: number): Sent {
  const sent = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/scim/v2/Users',
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  });
  const answer = new Promise<Awaited<Sent['answer']>>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async response => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const body = JSON.parse(Buffer.concat(parts).toString());
      resolve({ status: response.statusCode!, headers: response.headers, body });
    });
  });
  answer.catch(() => {});
  sent.end();
  return { answer, end: () => void sent.destroy() };
}
const answerAll = async (count: number) => {
  for (let answered = 0; answered < count; answered++) {
    await whenWaiting(1);
    expect(waiting.length).toBeLessThanOrEqual(scimBounds.atOnce);
    waiting.shift()!();
  }
};
const total = scimBounds.atOnce + scimBounds.waiting;

it('carries out four requests of a token at once, lets a hundred wait and refuses more with 429', async () => {
  const all = Array.from({ length: total + 20 }, () => send(1));
  // Before anything is answered, only those that are refused get a response.
  const refused: Awaited<Sent['answer']>[] = [];
  await new Promise<void>(resolve => {
    for (const { answer } of all) void answer.then(one => refused.push(one) === 20 && resolve());
  });
  for (const one of refused)
    expect(one).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1', 'content-type': expect.stringContaining('application/scim+json') },
      body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '429' },
    });
  await whenWaiting(scimBounds.atOnce);
  await answerAll(total);
  const statuses = (await Promise.all(all.map(({ answer }) => answer))).map(({ status }) => status);
  expect(statuses.filter(status => status === 200)).toHaveLength(total);
  expect(statuses.filter(status => status === 429)).toHaveLength(20);
});

it('has turns for each token', async () => {
  const mine = Array.from({ length: total }, () => send(1));
  await whenWaiting(scimBounds.atOnce);
  const other = send(2);
  await whenWaiting(scimBounds.atOnce + 1);
  waiting.pop()!();
  expect(await other.answer).toMatchObject({ status: 200 });
  await answerAll(total);
  await Promise.all(mine.map(({ answer }) => answer));
});

it('passes on the turns of clients that went away', async () => {
  const gone = Array.from({ length: total }, () => send(3));
  await whenWaiting(scimBounds.atOnce);
  for (const one of gone) one.end();
  await Promise.allSettled(gone.map(({ answer }) => answer));
  const next = send(3);
  let isAnswered = false;
  void next.answer.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    waiting.shift()?.();
    await new Promise(setImmediate);
  }
  expect(await next.answer).toMatchObject({ status: 200 });
});
