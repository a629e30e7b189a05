/** A body whose shape alone would keep the daemon busy is refused before anything is made of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkShape } from '../../daemon/http/json-shape.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

const shape = (text: string) => () => checkShape(Buffer.from(text));
const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);

describe('the shape of a body', () => {
  it('is no matter where it is small, or where brackets stand in texts', () => {
    for (const text of [
      '',
      '{}',
      nested(10_000),
      '"['.repeat(10_000),
      JSON.stringify(['[{"\\'.repeat(100_000)]),
      ']'.repeat(50_000),
    ])
      expect(shape(text)).not.toThrow();
  });

  it('is that of the largest batch, with fields that nobody asked for', () => {
    const item = { deviceType: 'UKEY', serialNumber: '[{', manufacturer: '"\\', model: 'K9', tags: [{ a: [1] }] };
    expect(shape(JSON.stringify({ devices: Array.from({ length: 10_000 }, () => item) }))).not.toThrow();
  });

  it.each([
    ['arrays', nested(40_000)],
    ['objects', nested(40_000, '{"a":', '}')],
    ['both, behind a text', `{"x":"\\\\","y":${nested(40_000, '[{"a":', '}]')}}`],
    ['arrays that are never closed', '['.repeat(40_000)],
  ])('is refused where %s are nested without end', (_what, text) => {
    expect(shape(text)).toThrow(/deeper than 64/);
  });

  it('is refused where there are more parts than any operation takes', () => {
    expect(shape(`[${'[],'.repeat(100_001)}1]`)).toThrow(/more than 100000/);
  });
});

describe('a daemon', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon?.stop());

  it('answers a batch of 15 MiB of brackets with 1001, and others meanwhile', async () => {
    const raw = `{"devices":${nested(7_500_000)}}`;
    const headers = { 'content-type': 'application/json' };
    const refused = daemon.call('POST', '/api/devices/batch-register', undefined, { raw, headers });
    const started = performance.now();
    while (performance.now() - started < 300) expect((await daemon.call('GET', '/api/users/me')).code).toBe(200);
    expect(await refused).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('nested') });
    // Read by JSON.parse alone, it would hold every other request for longer than this.
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});
