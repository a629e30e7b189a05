/** An empty filter, or one that an operation does not know, never selects everything by mistake. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { RouteShape } from '../../src/contract/define.ts';
import { deviceFilters } from '../../src/contract/device-filters.ts';
import { routes } from '../../src/contract/routes.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { register } from '../support/fleet.ts';
import { callerFor } from '../support/holder.ts';

let daemon: TestDaemon;
let as: Awaited<ReturnType<typeof callerFor>>;
beforeAll(async () => {
  daemon = await startTestDaemon();
  as = await callerFor(daemon);
  await register(daemon);
});
afterAll(() => daemon?.stop());

const strict = { headers: { prefer: 'handling=strict' } };
const get = (path: string, options = {}) => daemon.call('GET', path, undefined, options);

describe.each(Object.keys(deviceFilters))('the filter %s', name => {
  it.each(['', '%20', '%0A'])('is refused by an export if its value is "%s"', async value => {
    const found = await get(`/api/devices/export?${name}=${value}`);
    expect(found).toMatchObject({ status: 400, code: 1001, data: null });
    expect(found.message).toContain(name);
  });

  it('is absent in a list if it is empty, and refused if the client wants that', async () => {
    expect((await get(`/api/devices/list?${name}=`)).data.pagination.total).toBe(1);
    const found = await get(`/api/devices/list?${name}=`, strict);
    expect([found.code, found.message]).toEqual([1001, `${name} must not be empty`]);
  });
});

it.each(['/api/devices/export', '/api/statistics'])('%s refuses a parameter that it does not know', async path => {
  const found = await get(`${path}?user=alice`);
  expect([found.status, found.code, found.message]).toEqual([400, 1001, 'user is not a parameter of this operation']);
});

it('an empty part of a set is refused', async () => {
  expect(await get('/api/devices/export?status=ACTIVE,')).toMatchObject({ code: 1001 });
});

it('one empty value among several is refused', async () => {
  expect(await get('/api/devices/export?tag=a:b&tag=')).toMatchObject({ code: 1001, message: 'tag must not be empty' });
});

it('a batch refuses a filter, which it does not have', async () => {
  const body = { operation: 'LOCK', items: [{ deviceId: 'DEV-1', reason: 'x' }] };
  const found = await daemon.call('POST', '/api/devices/batch-update?status=INACTIVE', body);
  expect([found.code, found.message]).toEqual([1001, 'status is not a parameter of this operation']);
});

describe('with Prefer: handling=strict', () => {
  it.each(['handling=strict', 'respond-async, HANDLING="strict"; x=1, wait=1', 'handling = strict'])(
    'as %s, a list refuses what it does not know',
    async prefer => {
      const found = await get('/api/devices/list?user=alice', { headers: { prefer } });
      expect([found.code, found.message]).toEqual([1001, 'user is not a parameter of this operation']);
      expect(found.headers.get('preference-applied')).toBe('handling=strict');
    },
  );

  it.each(['handling=lenient', 'handling', 'strict', 'xhandling=strict'])('%s is not that', async prefer => {
    const found = await get('/api/devices/list?user=alice&userId=', { headers: { prefer } });
    expect([found.code, found.headers.get('preference-applied')]).toEqual([200, null]);
  });

  const json = Object.values(routes as Readonly<Record<string, RouteShape>>).filter(
    shape => !shape.raw && !shape.websocket && !shape.form,
  );
  it.each(json.map(shape => [shape.id, shape] as const))(
    '%s refuses a parameter that it does not know',
    async (_id, shape) => {
      const path = shape.path.replaceAll(/\{\w+\}/g, 'X-1');
      const body = shape.method === 'GET' ? undefined : (shape.example?.body ?? {});
      const found = await daemon.call(shape.method, `${path}?nonsense=1`, body, { ...strict, ...as(shape) });
      expect([found.code, found.message]).toEqual([1001, 'nonsense is not a parameter of this operation']);
      expect(found.headers.get('preference-applied')).toBe('handling=strict');
    },
  );

  it('documents refuse it, too', async () => {
    const response = await fetch(`${daemon.url}/api/openapi.json?v=1`, strict);
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      400,
      'v is not a parameter of this operation',
    ]);
  });

  it('a stream refuses an empty selection', async () => {
    const url = `${daemon.url.replace('http', 'ws')}/api/ws/notifications?token=${daemon.adminToken}&types=`;
    const status = await new Promise(resolve => {
      const socket = new WebSocket(url, strict);
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('open', () => resolve('open'));
      socket.on('error', () => {});
    });
    expect(status).toBe(400);
  });
});
