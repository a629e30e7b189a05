/** kill -9 between the commit and its response: a request that is sent again with its key is carried out exactly once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-idempotency-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

interface Sent {
  readonly code: number;
  readonly text: string;
  readonly replayed: boolean;
}

async function send(daemon: DaemonProcess, path: string, body: unknown, key: string): Promise<Sent> {
  const headers = {
    authorization: `Bearer ${daemon.token}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const response = await fetch(daemon.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  const { code } = JSON.parse(text) as { code: number };
  return { code, text, replayed: response.headers.get('idempotent-replay') === 'true' };
}

const device = (serialNumber: string) => ({ deviceType: 'UKEY', serialNumber, manufacturer: 'Feitian', model: 'K9' });

test('after a kill, every usage that was sent again counts once, and acknowledged ones keep their response', async () => {
  let daemon = await spawnDaemon({ home });
  const registered = await send(daemon, '/api/devices/register', device('S-1'), 'register');
  const { deviceId, activationCode } = JSON.parse(registered.text).data;
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  const path = `/api/devices/${deviceId}/usage`;
  const usage = { durationSeconds: 3 };
  const sent: string[] = [];
  const acknowledged = new Map<string, string>();
  for (const [run, killAfter] of [1, 40, 150].entries()) {
    const running = daemon;
    let killed: Promise<void> | null = null;
    const client = async (name: number) => {
      for (let i = 0; !killed; i++) {
        const key = `run-${run}-client-${name}-${i}`;
        sent.push(key);
        const answer = await send(running, path, usage, key).catch(() => null);
        if (answer === null) return;
        acknowledged.set(key, answer.text);
        if (acknowledged.size >= killAfter * (run + 1)) killed ??= running.kill();
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, name) => client(name)));
    await killed;
    daemon = await spawnDaemon({ home });
    for (const key of sent) {
      const again = await send(daemon, path, usage, key);
      expect(again.code).toBe(200);
      if (!acknowledged.has(key)) continue;
      expect([again.text, again.replayed]).toEqual([acknowledged.get(key), true]);
    }
    for (const key of sent) acknowledged.set(key, (await send(daemon, path, usage, key)).text);
    const { data } = await daemon.call('GET', `/api/devices/${deviceId}`);
    expect((data as { statistics: object }).statistics).toMatchObject({
      totalUsageCount: sent.length,
      totalUsageDuration: 3 * sent.length,
    });
  }
  expect(await daemon.stop()).toBe(0);
});

test('a batch whose response was lost is registered once, whatever the moment of the kill', async () => {
  for (const [run, delayedBy] of [0, 2, 5, 9].entries()) {
    const devices = Array.from({ length: 3000 }, (_, i) => device(`b${run}-${i}`));
    const first = await spawnDaemon({ home });
    const lost = send(first, '/api/devices/batch-register', { devices }, `batch-${run}`).catch(() => null);
    // Health requests are answered between the steps of the batch: each one delays the kill to a later step.
    for (let i = 0; i < delayedBy; i++) await fetch(`${first.url}/api/health`).catch(() => undefined);
    await first.kill();
    const before = await lost;
    const second = await spawnDaemon({ home });
    const again = await send(second, '/api/devices/batch-register', { devices }, `batch-${run}`);
    expect(JSON.parse(again.text)).toMatchObject({ code: 200, message: 'success', data: { success: 3000, failed: 0 } });
    if (before) expect([again.text, again.replayed]).toEqual([before.text, true]);
    expect(await second.stop()).toBe(0);
  }
});
