/** Where and until when a service token is accepted, and how its requests are limited. */
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rateLimits } from '../../src/contract/limits.ts';
import { day, holdClock, second } from '../support/clock.ts';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn } from '../support/fleet.ts';
import { serviceToken } from '../support/service-token.ts';
import { openStream } from '../support/stream-client.ts';

let clock: ReturnType<typeof holdClock>;
let daemon: TestDaemon;
beforeEach(async () => {
  clock = holdClock();
  daemon = await startTestDaemon({ trustProxy: ['127.0.0.0/8', '::1/128'] });
});
afterEach(async () => {
  await daemon?.stop();
  clock.release();
});

const list = (token: string, headers: Record<string, string> = {}) =>
  daemon.call('GET', '/api/devices/list', undefined, { token, headers });
const times = (count: number, code: number) => Array<number>(count).fill(code);
async function codes(count: number, call: () => Promise<Answer>): Promise<number[]> {
  const found = [];
  for (let i = 0; i < count; i++) found.push((await call()).code);
  return found;
}

it('a service token is valid for exactly its days, then it is 1005', async () => {
  const { token } = await serviceToken(daemon, { expiresInDays: 40 });
  clock.forward(40 * day - second);
  expect(await list(token)).toMatchObject({ code: 200 });
  clock.forward(second);
  expect(await list(token)).toMatchObject({ status: 401, code: 1005, data: null });
});

it('the streams of a service token end with 4401 when it expires', async () => {
  const { token } = await serviceToken(daemon);
  const stream = await openStream(daemon.url, { token });
  clock.forward(day);
  expect((await stream.closed).code).toBe(4401);
});

it('a service token that is revoked while its file arrives does not store the file', async () => {
  const { token, tokenId } = await serviceToken(daemon, { role: 'ADMIN' });
  const part = (fields: string, text: string) => `--b\r\nContent-Disposition: form-data; ${fields}\r\n\r\n${text}\r\n`;
  const upload = request(`${daemon.url}/api/app-versions/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=b' },
  });
  const answer = new Promise<string>((resolve, reject) => {
    upload.on('error', reject).on('response', response => resolve(text(response)));
  });
  upload.write(
    part('name="platform"', 'WINDOWS') + part('name="version"', '1.0.0') + part('name="forceUpdate"', 'false'),
  );
  upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.exe"\r\n\r\nMZ');
  // The file is being received, so the token was accepted.
  await expect.poll(() => readdir(join(daemon.home, 'blobs', 'incoming'))).toHaveLength(1);
  data(await daemon.call('POST', `/api/tokens/${tokenId}/revoke`, {}));
  upload.end('the rest\r\n--b--\r\n');
  expect(JSON.parse(await answer)).toMatchObject({ code: 1004 });
  expect(data(await daemon.call('GET', '/api/app-versions/list'))).toMatchObject({ pagination: { total: 0 } });
});

describe('a service token with networks', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });

  it('is accepted only from there, and its address is the one that a trusted proxy names', async () => {
    const { token } = await serviceToken(daemon, { allowedFrom: ['192.0.2.0/24', '2001:db8::/32'] });
    for (const address of ['192.0.2.1', '192.0.2.255', '::ffff:192.0.2.7', '2001:db8:1::1'])
      expect([address, (await list(token, from(address))).code]).toEqual([address, 200]);
    for (const address of ['198.51.100.1', '2001:db9::1', 'nonsense', '192.0.2.1, 198.51.100.1'])
      expect([address, (await list(token, from(address))).code]).toEqual([address, 1004]);
    expect(await list(token)).toMatchObject({ status: 401, code: 1004, data: null });
  });

  it('does not trust a forwarded address that no trusted proxy sends', async () => {
    const { token } = await serviceToken(daemon, { allowedFrom: ['192.0.2.0/24'] });
    await daemon.restart({ trustProxy: [] });
    expect(await list(token, from('192.0.2.1'))).toMatchObject({ code: 1004 });
  });

  it('opens streams only from there', async () => {
    const { token } = await serviceToken(daemon, { allowedFrom: ['192.0.2.0/24'] });
    const open = (address: string) => openStream(daemon.url, { token }, { headers: from(address) });
    const stream = await open('192.0.2.9');
    await expect(open('198.51.100.9')).rejects.toThrow(/401/);
    expect(stream.ws.readyState).toBe(stream.ws.OPEN);
    stream.ws.terminate();
  });

  it('keeps a stream that was opened from there when the tokens of others change', async () => {
    const { token, tokenId } = await serviceToken(daemon, { allowedFrom: ['192.0.2.0/24'] });
    const stream = await openStream(daemon.url, { token }, { headers: from('192.0.2.9') });
    data(await daemon.call('POST', `/api/tokens/${(await serviceToken(daemon)).tokenId}/revoke`));
    expect(stream.ws.readyState).toBe(stream.ws.OPEN);
    data(await daemon.call('POST', `/api/tokens/${tokenId}/revoke`));
    expect((await stream.closed).code).toBe(4401);
  });
});

describe('limits', () => {
  it('count for each service token, not for its creator or address', async () => {
    const [one, other] = [await serviceToken(daemon), await serviceToken(daemon)];
    await daemon.restart({ limits: rateLimits });
    const { count } = rateLimits.query;
    expect(await codes(count, () => list(one.token))).toEqual(times(count, 200));
    expect(await list(one.token)).toMatchObject({ status: 429, code: 429 });
    for (const token of [other.token, daemon.adminToken]) expect(await list(token)).toMatchObject({ code: 200 });
  });

  it('bound wrong confirmations by a service token', async () => {
    const { token } = await serviceToken(daemon);
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    await daemon.restart({ limits: { ...rateLimits, login: { count: 1000, seconds: 60 }, modify: null } });
    const deactivate = (confirmPassword: string) =>
      daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'worn out', confirmPassword }, { token });
    expect(await codes(10, () => deactivate('wrong one'))).toEqual(times(10, 1003));
    expect(await deactivate(adminPassword)).toMatchObject({ status: 429, code: 429 });
  });
});
