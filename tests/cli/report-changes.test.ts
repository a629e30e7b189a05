/** A report about many devices: made without a request for each thousand events. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { EventService } from '../../daemon/notifications/events.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { devmgr } from './program.ts';

const daemon = daemonOfTests();

test('more events than a page has are counted with two requests for them', async () => {
  const post = async (path: string, body: object) => (await daemon.call('POST', `/api/devices/${path}`, body)).data;
  const devices = Array.from({ length: 600 }, (_, at) => ({
    deviceType: 'UKEY',
    serialNumber: `MANY-${at}`,
    manufacturer: 'Acme',
    model: 'Many',
    tags: { lot: 'many' },
  }));
  // The locks of a report are searched from the registration of its first device on.
  const [early] = (await post('batch-register', { devices: devices.splice(0, 1) })).results;
  const { deviceId, activationCode } = early;
  await post('activate', { deviceId, activationCode, userId: 'mona' });
  expect(await post(`${deviceId}/lock`, { reason: 'test' })).toMatchObject({ status: 'LOCKED' });
  const { results } = await post('batch-register', { devices });
  const items = results.map(({ deviceId, activationCode }: Record<string, string>) => ({
    deviceId,
    activationCode,
    userId: 'mona',
  }));
  await post('batch-update', { operation: 'ACTIVATE', items });
  for (const operation of ['LOCK', 'UNLOCK', 'LOCK', 'UNLOCK'])
    await post('batch-update', {
      operation,
      items: items.map(({ deviceId }: { deviceId: string }) => ({ deviceId, reason: 'test' })),
    });
  const requests = vi.spyOn(EventService.prototype, 'list');
  onTestFinished(() => requests.mockRestore());
  const { json } = await devmgr(['report', '--tag', 'lot=many', '--json', '--server', daemon.url], {
    env: { DEVMGR_TOKEN: daemon.adminToken },
  });
  expect(json.changes).toEqual({ locked: 600, unlocked: 599, deactivated: 0 });
  expect(requests).toHaveBeenCalledTimes(2);
});
