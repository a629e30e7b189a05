/** The name of the daemon: in every response, whatever kind it is, in the log and in the metrics. */
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostNode, readSetting } from '../../daemon/home/given-settings.ts';
import type { Env } from '../../src/contract/local.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { rawRequest } from '../support/raw-request.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';
import { temporaryFolder } from '../support/temporary.ts';

const node = 'node-7.example_1';
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ node });
});
afterAll(() => daemon?.stop());

const nodeFrom = (node: string | null, env: Env) => readSetting('node', { node }, env);
const authorization = () => ({ authorization: `Bearer ${daemon.adminToken}` });

describe('X-Devmgr-Node', () => {
  it.each([
    ['an operation', 'GET', '/api/devices/list', 200],
    ['an export', 'GET', '/api/devices/export', 200],
    ['a document', 'GET', '/api/openapi.json', 200],
    ['a page', 'GET', '/api/swagger-ui.html', 200],
    ['the metrics', 'GET', '/metrics', 200],
    ['the health', 'GET', '/api/health', 200],
    ['an unknown path', 'GET', '/api/nope', 404],
    ['a wrong method', 'DELETE', '/api/devices/list', 404],
    ['a path that is not valid', 'GET', '/api/devices/%zz', 404],
    ['a device that does not exist', 'GET', '/api/devices/DEV-99', 404],
    ['a parameter that is not valid', 'GET', '/api/devices/list?page=0', 400],
  ])('is in the response to %s', async (_what, method, path, status) => {
    const response = await fetch(daemon.url + path, { method, headers: authorization() });
    await response.arrayBuffer();
    expect([response.status, response.headers.get('x-devmgr-node')]).toEqual([status, node]);
  });

  it('is in the response to a request without a token', async () => {
    const { status, headers } = await daemon.call('GET', '/api/devices/list', undefined, { token: null });
    expect([status, headers.get('x-devmgr-node')]).toEqual([401, node]);
  });

  it.each([
    ['is not HTTP', 'nonsense\r\n\r\n'],
    ['asks for a tunnel', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
    ['expects what is not supported', 'GET /api/health HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\n\r\n'],
  ])('is in the response to what %s', async (_what, bytes) => {
    expect((await rawRequest(daemon.url, bytes)).toLowerCase()).toContain(`\r\nx-devmgr-node: ${node}\r\n`);
  });

  it('is in the response to an upgrade, accepted or refused', async () => {
    const { headers } = await refusedUpgrade(daemon.url, '/api/ws/notifications');
    expect(headers['x-devmgr-node']).toBe(node);
    let upgraded: unknown;
    const stream = await openStream(
      daemon.url,
      { token: daemon.adminToken },
      {
        finishRequest: request => {
          request.on('upgrade', response => {
            upgraded = response.headers['x-devmgr-node'];
          });
          request.end();
        },
      },
    );
    stream.ws.close();
    await stream.closed;
    expect(upgraded).toBe(node);
  });
});

it('each sample of the metrics has the label node', async () => {
  const text = await (await fetch(`${daemon.url}/metrics`, { headers: authorization() })).text();
  const samples = text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  expect(samples.length).toBeGreaterThan(5);
  expect(samples.filter(line => !line.includes(`node="${node}"`))).toEqual([]);
});

it('each line of the log as JSON has the field node', async () => {
  const started = await spawnDaemon({ home: temporaryFolder() }, { DEVMGR_NODE: 'node-9' });
  expect(await started.stop()).toBe(0);
  const lines = started
    .output()
    .split('\n')
    .filter(line => line.includes('"time"'))
    .map(line => JSON.parse(line) as { node?: string; msg?: string });
  expect(lines.map(({ msg }) => msg)).toContain('stopped');
  expect(lines.filter(line => line.node !== 'node-9')).toEqual([]);
});

describe('the name', () => {
  it('is that of the flag, else of DEVMGR_NODE, else of the host', () => {
    expect(nodeFrom('one', { DEVMGR_NODE: 'two' })).toBe('one');
    expect(nodeFrom(null, { DEVMGR_NODE: 'two' })).toBe('two');
    expect(nodeFrom(null, { DEVMGR_NODE: '' })).toBe(hostNode());
    expect(hostNode(hostname())).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/);
  });

  it('of a host is changed to what a header and a label can contain', () => {
    expect(hostNode('büro 1')).toBe('b-ro-1');
    expect(hostNode(`-${'x'.repeat(100)}`)).toBe('x'.repeat(63));
    expect(hostNode('')).toBe('devmgr');
  });

  it.each(['', ' ', 'a b', 'a\r\nx: y', 'a"b', '-a', 'x'.repeat(64), 'ü'])('%j is refused with exit code 2', name => {
    expect(() => nodeFrom(name, {})).toThrow(expect.objectContaining({ exitCode: 2, message: '--node is malformed' }));
  });
});
