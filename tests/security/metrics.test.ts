/** Metrics without a token are for this machine only, not for clients of a proxy on it. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const scrape = (headers: Readonly<Record<string, string>> = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asking = request(`${daemon.url}/metrics`, { headers }, response => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.on('error', reject).end();
  });

it('this machine may read them by each of its names', async () => {
  for (const host of ['127.0.0.1', 'localhost:7470', '[::1]:7470'])
    expect([host, await scrape({ host })]).toEqual([host, 200]);
});

it.each(['Forwarded', 'Via', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Real-IP'])(
  'a request with the proxy header %s needs a token',
  async name => {
    expect(await scrape({ [name]: '192.0.2.7' })).toBe(401);
    expect(await scrape({ [name]: '192.0.2.7', authorization: `Bearer ${daemon.adminToken}` })).toBe(200);
  },
);

it.each([
  ['--trust-proxy', { trustProxy: ['127.0.0.1'] }],
  ['--allow-host', { allowHost: ['registry.example.com'] }],
])('with %s every request needs a token: a proxy that adds no header looks like this machine', async (_, settings) => {
  await daemon.restart(settings);
  expect(await scrape()).toBe(401);
  if ('allowHost' in settings) expect(await scrape({ host: 'registry.example.com' })).toBe(401);
  expect(await scrape({ authorization: `Bearer ${daemon.adminToken}` })).toBe(200);
  await daemon.restart();
  expect(await scrape()).toBe(200);
});
