/** One of several daemons is stopped under load: no change fails or is made twice, and no stream has a gap or a repeat. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { listEndpoint } from '../../src/cli/client/addresses.ts';
import { Client } from '../../src/cli/client/client.ts';
import { followNotifications } from '../../src/cli/client/stream.ts';
import { data, freshSerial, registration } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { findTool, needs } from '../support/needs.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

const CLIENTS = 16;
const DEVICES_EACH = 12;

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());

async function twoDaemons(): Promise<TwoDaemons> {
  const daemons = await startTwoDaemons(server);
  onTestFinished(() => daemons.stop());
  return daemons;
}

function clientOf(addresses: readonly string[], token: string, signal = new AbortController().signal): Client {
  return new Client({
    endpoint: listEndpoint(addresses),
    session: { token: async () => token },
    signal,
    wait: false,
    notice: () => {},
    waiting: () => {},
    trace: () => {},
  });
}

/** Registers devices and changes each; returns the serial numbers. Rejects if any request fails. */
async function work(client: Client, onDone: () => void): Promise<string[]> {
  const serials: string[] = [];
  for (let i = 0; i < DEVICES_EACH; i++) {
    const serialNumber = freshSerial('DRAIN');
    const { deviceId, activationCode } = await client.call('registerDevice', {
      body: registration({ serialNumber }) as never,
    });
    await client.call('activateDevice', { body: { deviceId, activationCode, userId: 'alice' } });
    await client.call('recordUsage', { params: { deviceId }, body: { durationSeconds: 1 } });
    await client.call('lockDevice', { params: { deviceId }, body: { reason: 'lost' } });
    serials.push(serialNumber);
    onDone();
  }
  return serials;
}

needsPostgres('two daemons', () => {
  it('X-RateLimit-Remaining of one counts what the other has used', async () => {
    const daemons = await twoDaemons();
    const many = { count: 100, seconds: 60 };
    const limits = { login: null, query: many, modify: many, upload: null };
    for (const daemon of [daemons.one, daemons.two]) await daemon.restart({ limits });
    const token = daemons.one.adminToken;
    const left = async (daemon: typeof daemons.one, method: string, path: string, body?: unknown) =>
      Number((await daemon.call(method, path, body, { token })).headers.get('x-ratelimit-remaining'));
    for (let i = 1; i <= 10; i++) {
      const daemon = i % 2 ? daemons.one : daemons.two;
      expect(await left(daemon, 'POST', '/api/devices/register', registration())).toBe(100 - i);
    }
    for (let i = 1; i <= 10; i++) expect(await left(daemons.one, 'GET', '/api/users/me')).toBe(100 - i);
    // Once the portion of the other is given back, the header is exact.
    await daemons.one.stopKeepingHome();
    expect(await left(daemons.two, 'GET', '/api/users/me')).toBe(89);
    await daemons.one.startAgain({ limits });
  });

  it('one is stopped: every change of 16 clients is made once, and watch shows each event once', async () => {
    const daemons = await twoDaemons();
    const { one, two } = daemons;
    const addresses = [one.url, two.url];
    const token = one.adminToken;
    const ended = new AbortController();
    const seen: number[] = [];
    const watching = (async () => {
      const client = clientOf(addresses, token, ended.signal);
      const events = followNotifications({ client, types: [], since: 0, onState: () => {} });
      for await (const { id } of events) if (id !== undefined) seen.push(id);
    })();
    let done = 0;
    let stopping: Promise<void> | undefined;
    const onDone = () => {
      if (++done === (CLIENTS * DEVICES_EACH) / 4) stopping = one.stopKeepingHome();
    };
    const clients = Array.from({ length: CLIENTS }, () => work(clientOf(addresses, token), onDone));
    const serials = (await Promise.all(clients)).flat();
    await stopping;
    const { list: used } = data(await two.call('GET', '/api/devices/list?keyword=DRAIN&size=1'));
    const { pagination } = data(await two.call('GET', '/api/devices/list?keyword=DRAIN&size=1'));
    expect(pagination.total).toBe(serials.length);
    const { totalUsageCount } = data(await two.call('GET', `/api/devices/${used[0].deviceId}`)).statistics;
    expect(totalUsageCount).toBe(1);
    const { list } = data(await two.call('GET', '/api/events?limit=1000'));
    const ids = list.map(({ id }: { id: number }) => id);
    // The first account is an event, too.
    expect(ids).toHaveLength(serials.length * 3 + 1);
    await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(ids.length), 20_000);
    ended.abort();
    await watching;
    expect(seen).toEqual(ids);
  });
});

/** HAProxy in front of daemons, with the checks of packaging/haproxy. */
async function balance(urls: readonly string[]) {
  const folder = temporaryFolder();
  const port = await freePort();
  const socket = join(folder, 'stats');
  const servers = urls.map((url, i) => `  server s${i} ${new URL(url).host}`);
  const packaged = readFileSync(join(import.meta.dirname, '../../packaging/haproxy/registry.cfg'), 'utf8');
  const checks = packaged.match(/^ {2}(?:option httpchk|http-check|default-server check) .*$/gm)!;
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  stats socket ${socket}
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 700ms
  retries 3
  option redispatch
listen devmgr
  bind 127.0.0.1:${port}
  balance roundrobin
${checks.join('\n')}
${servers.join('\n')}
`,
  );
  const child = spawn(findTool('haproxy')!, ['-db', '-f', file], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  /** Whether HAProxy sends requests to a server. */
  const isUp = async (index: number): Promise<boolean> => {
    const connection = connect(socket);
    connection.end('show stat\n');
    let text = '';
    for await (const chunk of connection) text += chunk;
    const row = text.split('\n').find(line => line.startsWith(`devmgr,s${index},`));
    return row?.split(',')[17] === 'UP';
  };
  return { url: `http://127.0.0.1:${port}`, isUp };
}

/** A registration whose body is sent in two parts; `end` resolves with the status. */
function halfSent(url: string, headers: Record<string, string>) {
  const text = JSON.stringify(registration());
  const sent = request(`${url}/api/devices/register`, {
    method: 'POST',
    headers: { ...headers, 'content-length': text.length },
    agent: false,
  });
  const response = once(sent, 'response');
  const begun = new Promise<void>(resolve => void sent.write(text.slice(0, 10), () => resolve()));
  const end = async () => {
    sent.end(text.slice(10));
    const [{ statusCode }] = await response;
    return statusCode as number;
  };
  return { begun, end };
}

if (findTool('setpriv'))
  needs('haproxy')('behind HAProxy with option httpchk', () => {
    needsPostgres('two daemons', () => {
      it('one drains and stops: no request fails', async () => {
        const daemons = await twoDaemons();
        const { one, two } = daemons;
        await one.restart({ drain: 3 });
        const proxy = await balance([one.url, two.url]);
        await vi.waitFor(
          async () => expect(await Promise.all([proxy.isUp(0), proxy.isUp(1)])).toEqual([true, true]),
          10_000,
        );
        const headers = { authorization: `Bearer ${one.adminToken}`, 'content-type': 'application/json' };
        const refusals: string[] = [];
        let accepted = 0;
        let isOver = false;
        const send = async () => {
          while (!isOver) {
            const body = JSON.stringify(registration());
            const response = await fetch(`${proxy.url}/api/devices/register`, { method: 'POST', headers, body });
            const text = await response.text();
            if (response.status === 200) accepted++;
            else refusals.push(`${response.status} ${text}`);
          }
        };
        // Each daemon gets one of them; they end after the balancer has noticed.
        const halves = [halfSent(proxy.url, headers), halfSent(proxy.url, headers)];
        await Promise.all(halves.map(({ begun }) => begun));
        const sending = Array.from({ length: 4 }, send);
        const stopping = one.stopKeepingHome();
        await vi.waitFor(async () => expect(await proxy.isUp(0)).toBe(false), 10_000);
        expect(await Promise.all(halves.map(({ end }) => end()))).toEqual([200, 200]);
        // It still serves those that reach it.
        expect((await one.call('GET', '/api/devices/list')).status).toBe(200);
        await stopping;
        isOver = true;
        await Promise.all(sending);
        expect(refusals).toEqual([]);
        expect(accepted).toBeGreaterThan(0);
        expect(await proxy.isUp(1)).toBe(true);
      });
    });
  });
