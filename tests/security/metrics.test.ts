/** Metrics without a token are for this machine: not for whoever comes through a proxy on it. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ allowHosts: ['registry.example.com'] });
});
afterAll(() => daemon?.stop());

const scrape = (headers: Readonly<Record<string, string>>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asking = request(`${daemon.url}/metrics`, { headers }, answer => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asking.on('error', reject).end();
  });

it('this machine reads them under each of its names', async () => {
  for (const host of ['127.0.0.1', 'localhost:7470', '[::1]:7470'])
    expect([host, await scrape({ host })]).toEqual([host, 200]);
});

it.each(['Forwarded', 'Via', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Real-IP'])(
  'a request that a proxy has marked with %s needs a token',
  async name => {
    expect(await scrape({ [name]: '192.0.2.7' })).toBe(401);
    expect(await scrape({ [name]: '192.0.2.7', authorization: `Bearer ${daemon.adminToken}` })).toBe(200);
  },
);

it('so does one under the public name, which a proxy has handed on', async () => {
  expect(await scrape({ host: 'registry.example.com' })).toBe(401);
});
