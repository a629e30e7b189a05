/** A body whose structure would hold the daemon is refused before it is parsed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkShape } from '../../daemon/http/json-shape.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

const shape = (text: string) => () => checkShape(Buffer.from(text));
const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);

describe('the shape of a body', () => {
  it('is accepted in a small body, and with brackets inside strings', () => {
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

  it('is accepted in the largest batch with unknown fields', () => {
    const item = { deviceType: 'UKEY', serialNumber: '[{', manufacturer: '"\\', model: 'K9', tags: [{ a: [1] }] };
    expect(shape(JSON.stringify({ devices: Array.from({ length: 10_000 }, () => item) }))).not.toThrow();
  });

  it.each([
    ['arrays', nested(40_000)],
    ['objects', nested(40_000, '{"a":', '}')],
    ['both, after a string', `{"x":"\\\\","y":${nested(40_000, '[{"a":', '}]')}}`],
    ['arrays that are never closed', '['.repeat(40_000)],
  ])('is refused if %s are nested without end', (_what, text) => {
    expect(shape(text)).toThrow(/deeper than 64/);
  });

  it('is refused if it has more objects and arrays than any operation needs', () => {
    expect(shape(`[${'[],'.repeat(100_001)}1]`)).toThrow(/more than 100000/);
  });
});

describe('a daemon', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon?.stop());

  it('answers a batch of 15 MiB of brackets with 1001, and other requests meanwhile', async () => {
    const raw = `{"devices":${nested(7_500_000)}}`;
    const headers = { 'content-type': 'application/json' };
    const refused = daemon.call('POST', '/api/devices/batch-register', undefined, { raw, headers });
    const started = performance.now();
    while (performance.now() - started < 300) expect((await daemon.call('GET', '/api/users/me')).code).toBe(200);
    expect(await refused).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('nested') });
    // JSON.parse would hold every other request for longer than this.
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});
