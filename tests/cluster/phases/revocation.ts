/** Rights that are revoked on one node, and how soon each node refuses; every other time without NOTIFY between the nodes. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { streamUrl } from '../../support/stream-client.ts';
import type { Cluster } from '../cluster.ts';
import { until } from '../waiting.ts';

/** Milliseconds after the revocation within which reads are refused and streams closed. */
const LIMIT_MS = 1000;
/** Writes of the revoked caller to each node, one after the other. */
const WRITES = 10;
/** Between two reads: nothing but a refusal shows that the node knows of the revocation. */
const POLL_MS = 20;

/** Who loses rights: how this is done, and with which code requests are refused afterwards. */
interface Revocation {
  readonly name: string;
  readonly code: number;
  readonly make: (call: Call, name: string) => Promise<{ readonly token: string; readonly revoke: Request }>;
}

type Request = readonly [method: string, path: string, body?: object];
type Call = <T = unknown>(url: string, token: string, ...request: Request) => Promise<Answer<T>>;

/** `T`: the data that the operation returns. */
interface Answer<T> {
  readonly code: number;
  readonly data: T;
}

/** When each node refused, in milliseconds since the revocation was answered. */
interface Times {
  readonly reads: readonly number[];
  readonly streams: readonly number[];
}

export async function revokeEverywhere(cluster: Cluster, i: number): Promise<string> {
  const withHints = i % 2 === 0;
  if (!withHints) await cutHints(cluster);
  const reads: number[] = [];
  const streams: number[] = [];
  try {
    for (const [j, revocation] of revocations(cluster).entries()) {
      const times = await revoke(cluster, revocation, `revoked-${i}-${j}`, j);
      reads.push(...times.reads);
      streams.push(...times.streams);
    }
  } finally {
    if (!withHints) await restoreHints(cluster);
  }
  const most = (times: readonly number[]) => `${Math.max(...times).toFixed(0)} ms`;
  const ways = revocations(cluster).length;
  return `${ways} ways, ${withHints ? 'with' : 'without'} NOTIFY: writes refused at once, reads after ${most(reads)}, streams closed after ${most(streams)}`;
}

function revocations({ url, requests }: Cluster): readonly Revocation[] {
  const user =
    (change: (path: string) => Request) =>
    async (call: Call, username: string): Promise<{ token: string; revoke: Request }> => {
      const password = `password of ${username}`;
      const made = await call<{ id: string }>(url, requests.token, 'POST', '/api/users', {
        username,
        password,
        role: 'ADMIN',
      });
      const login = await call<{ token: string }>(url, '', 'POST', '/api/auth/login', { username, password });
      return { token: login.data.token, revoke: change(`/api/users/${made.data.id}`) };
    };
  return [
    { name: 'a user who was disabled', code: 1004, make: user(path => ['PUT', path, { disabled: true }]) },
    {
      name: 'a user whose password was changed',
      code: 1004,
      make: user(path => ['POST', `${path}/password`, { password: 'another password' }]),
    },
    { name: 'a user with another role', code: 2007, make: user(path => ['PUT', path, { role: 'VIEWER' }]) },
    {
      name: 'a service token that was revoked',
      code: 1004,
      async make(call, name) {
        const body = { name, role: 'ADMIN', expiresInDays: 1 };
        const { data } = await call<{ token: string; tokenId: string }>(
          url,
          requests.token,
          'POST',
          '/api/tokens',
          body,
        );
        return { token: data.token, revoke: ['POST', `/api/tokens/${data.tokenId}/revoke`] };
      },
    },
  ];
}

/** Takes the rights away on one node. Throws if a node accepts a write afterwards, or anything else for too long. */
async function revoke(cluster: Cluster, revocation: Revocation, name: string, turn: number): Promise<Times> {
  const { token, revoke } = await revocation.make(call, name);
  const read: Request = ['GET', '/api/users/list'];
  const streams = await Promise.all(cluster.nodes.map(({ url }) => openStream(url, token)));
  for (const { url } of cluster.nodes) expectCode(await call(url, token, ...read), 200, `a read of ${name}`);
  const { url } = cluster.nodes[turn % cluster.nodes.length]!;
  expectCode(await call(url, cluster.requests.token, ...revoke), 200, `to revoke ${name}`);
  const begun = performance.now();
  const since = () => performance.now() - begun;
  const closing = streams.map(stream => stream.closed.then(since));
  const [reads] = await Promise.all([
    Promise.all(cluster.nodes.map(node => refusedReads(node.url, token, revocation.code, since))),
    Promise.all(cluster.nodes.map(node => refusedWrites(node.url, token, revocation, name))),
  ]);
  // Another role keeps the stream: each role may read it.
  const keeps = revocation.code === 2007;
  const closed = keeps ? [] : await Promise.all(closing);
  for (const { socket } of streams) socket.terminate();
  const late = [...reads, ...closed].find(time => time > LIMIT_MS);
  if (late !== undefined) throw new Error(`${revocation.name}: refused after ${late.toFixed(0)} ms only`);
  return { reads, streams: closed };
}

async function refusedWrites(url: string, token: string, { name, code }: Revocation, serial: string): Promise<void> {
  for (let i = 0; i < WRITES; i++) {
    const body = { deviceType: 'UKEY', serialNumber: `${serial}-${i}`, manufacturer: 'Feitian', model: 'K9' };
    expectCode(await call(url, token, 'POST', '/api/devices/register', body), code, `write ${i + 1} of ${name}`);
  }
}

async function refusedReads(url: string, token: string, code: number, since: () => number): Promise<number> {
  for (;;) {
    const answer = await call(url, token, 'GET', '/api/users/list');
    if (answer.code === code) return since();
    if (since() > 10 * LIMIT_MS) throw new Error(`${url} still answers reads with ${answer.code}`);
    await sleep(POLL_MS);
  }
}

function expectCode(answer: Answer<unknown>, code: number, what: string): void {
  if (answer.code !== code) throw new Error(`${what} was answered ${JSON.stringify(answer)}, not ${code}`);
}

async function openStream(url: string, token: string) {
  const socket = new WebSocket(streamUrl(url, { token }));
  const closed = once(socket, 'close').then(([code]) => {
    if (code !== 4401 && code !== 1006) throw new Error(`the stream was closed with ${code}`);
  });
  closed.catch(() => {});
  await once(socket, 'open');
  socket.on('error', () => {});
  return { socket, closed };
}

const call: Call = async <T>(url: string, token: string, ...[method, path, body]: Request) => {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Answer<T>;
};

/** The sessions of the daemons that hear and send hints. */
const hinting = `SELECT pid FROM pg_stat_activity WHERE usename = 'devmgr' AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%')`;

/** The daemons find another function before that of PostgreSQL once their sessions are new: it sends nothing. */
async function cutHints({ databases }: Cluster): Promise<void> {
  await databases.query(
    `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
     ALTER ROLE devmgr SET search_path = public, pg_catalog`,
  );
  await newSessions({ databases });
}

async function restoreHints({ databases }: Cluster): Promise<void> {
  await databases.query('DROP FUNCTION public.pg_notify(text, text); ALTER ROLE devmgr RESET search_path');
  await newSessions({ databases });
}

async function newSessions({ databases }: Pick<Cluster, 'databases'>): Promise<void> {
  const old = (await databases.query(hinting)).map(({ pid }) => pid);
  for (const pid of old) await databases.query(`SELECT pg_terminate_backend(${pid})`);
  await until('new sessions for hints', 30, async () => {
    const found = (await databases.query(hinting)).map(({ pid }) => pid);
    return found.length === 3 && found.every(pid => !old.includes(pid));
  });
}
