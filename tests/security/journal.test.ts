import { expect, it } from 'vitest';
import { routes } from '../../src/contract/routes.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { data, deviceIn } from '../support/fleet.ts';
import { openStream } from '../support/stream-client.ts';

it('no operation returns what only the journal contains, not even to an administrator', async () => {
  const daemon = await startTestDaemon();
  try {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const note = 'written for the auditors alone';
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost', note }));
    const headers = { authorization: `Bearer ${daemon.adminToken}` };
    const reads = Object.values(routes).filter(({ method, id }) => method === 'GET' && id !== 'streamNotifications');
    expect(reads.length).toBeGreaterThan(15);
    for (const { path, id } of reads) {
      const ids = path
        .replace('{deviceId}', deviceId)
        .replace('{userId}', 'USR-1')
        .replaceAll(/\{(\w).*?Id\}/g, 'APP-1');
      const response = await fetch(daemon.url + ids, { headers });
      expect([id, (await response.text()).includes(note)]).toEqual([id, false]);
    }
    const stream = await openStream(daemon.url, { token: daemon.adminToken, since: 0 });
    await stream.untilSome(({ type }) => type === 'DEVICE_LOCKED');
    expect(JSON.stringify(stream.frames)).not.toContain(note);
    stream.ws.terminate();
  } finally {
    await daemon.stop();
  }
});
