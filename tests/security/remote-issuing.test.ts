/** Keys of the daemon's machine are issued by the users of that machine. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ allowHost: ['registry.example.com'] });
});
afterAll(() => daemon?.stop());

const ACCEPTED = 404;
const REFUSED = 2007;

/** The code of an answer to a step for a key that is not plugged in. */
const codeOf = (step: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<number>((resolve, reject) => {
    const sent = { authorization: `Bearer ${daemon.adminToken}`, 'content-type': 'application/json', ...headers };
    const options = { method: 'POST', headers: sent };
    const asking = request(`${daemon.url}/api/hardware/keys/hid-none/issue`, options, async response => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      resolve(JSON.parse(Buffer.concat(parts).toString()).code);
    });
    asking.on('error', reject).end(JSON.stringify({ step, serialNumber: 'S-1' }));
  });

it('programs and browsers of the machine may issue them, by each of its names', async () => {
  for (const host of ['127.0.0.1', 'localhost:7470', '[::1]:7470'])
    expect([host, await codeOf('state', { host })]).toEqual([host, ACCEPTED]);
});

it.each(['state', 'pin', 'reset'])('the step %s is refused through a proxy, or under a public name', async step => {
  for (const name of ['Forwarded', 'Via', 'X-Forwarded-For', 'X-Real-IP'])
    expect([name, await codeOf(step, { [name]: '192.0.2.7' })]).toEqual([name, REFUSED]);
  expect(await codeOf(step, { host: 'registry.example.com' })).toBe(REFUSED);
});

it('the operator of the daemon can allow it', async () => {
  await daemon.restart({ allowHost: ['registry.example.com'], remoteIssuing: true });
  expect(await codeOf('state', { host: 'registry.example.com', 'x-forwarded-for': '192.0.2.7' })).toBe(ACCEPTED);
});
