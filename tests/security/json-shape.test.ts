/** A body whose structure would hold the daemon is refused before it is parsed, and a large one is parsed in parts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJson } from '../../daemon/http/json-body.ts';
import { checkShape, shapeBounds } from '../../daemon/http/json-shape.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { batchRegistration } from '../../src/contract/devices.ts';
import { routes } from '../../src/contract/routes.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { mulberry } from '../support/mulberry.ts';

const one = shapeBounds(routes.registerDevice);
const batch = shapeBounds(routes.batchRegisterDevices);
const shape =
  (text: string, bounds = one) =>
  () =>
    checkShape(Buffer.from(text), bounds);
const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
/** An object with members `a0`, `a1`, … */
const wide = (members: number, name = (i: number) => `a${i}`) =>
  `{${Array.from({ length: members }, (_, i) => `${JSON.stringify(name(i))}:1`).join()}}`;
/** An object with this many members and elements in all. */
const heavy = (values: number) => `{"x":[${Array.from({ length: values - 1 }, () => '0').join()}]}`;
const escaped = (text: string) =>
  [...Array(text.length).keys()].map(i => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

/** Units of texts, escaped in all ways, and white space. */
const units = ['x', '\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\udd11', '\\ud83d', 'é', '🔑', '[{', '}],', '\\/'];
/** A JSON text of about so many bytes, in which any value may be long. */
function randomJson(random: () => number, bytes: number, depth = 0): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const space = () => pick(['', '', '', ' ', '\n\t']);
  const text = (length: number) => {
    const mixed = Array.from({ length: 8 }, () => pick(units)).join('');
    return `"${mixed.repeat(Math.ceil(length / mixed.length))}"`;
  };
  const kind = bytes < 20 || depth > 8 ? random() * 0.3 : random();
  if (kind < 0.1) return pick(['1', '-0.5e3', 'true', 'null', '[]', '{}', '[ ]', '0']);
  if (kind < 0.3) return text(Math.min(bytes, 1e6));
  // A few long values, or many short ones.
  const count = Math.ceil(random() < 0.5 ? random() * 4 : Math.min(bytes / 30, 250 * random()));
  const parts = Array.from({ length: count }, (_, i) => {
    const value = randomJson(random, (bytes / count) * (random() < 0.2 ? 3 : 1) * random() * 1.5, depth + 1);
    const name = random() < 0.05 ? '"again"' : random() < 0.1 ? `"${i}"` : `"\\u006e${i}"`;
    return kind < 0.65 ? space() + value + space() : `${space()}${name}${space()}:${value}${space()}`;
  });
  return kind < 0.65 ? `[${parts.join()}]` : `{${parts.join()}}`;
}

const required = { deviceType: 'UKEY', serialNumber: 'S-1', manufacturer: 'Acme', model: 'K9' };
const tags = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`tag${i}`, 'x']));
const everything = {
  ...required,
  hardwareVersion: '1',
  firmwareVersion: '1',
  tags,
  proofId: null,
  userId: 'ada',
  identity: null,
};
const devices = (item: unknown, count = 10_000, more = {}) =>
  JSON.stringify({ devices: Array.from({ length: count }, () => item), ...more });

describe('the shape of a body', () => {
  it('is accepted with brackets, colons and commas inside texts', () => {
    for (const text of ['', '{}', 'null', ' [ ] ', nested(64), JSON.stringify({ a: ['[{"\\,:'.repeat(10_000)] })])
      expect(shape(text)).not.toThrow();
  });

  it.each([
    ['arrays', nested(65)],
    ['objects', nested(65, '{"a":', '}')],
    ['both, after a text', `{"x":"\\\\","y":${nested(40, '[{"a":', '}]')}}`],
    ['arrays that are never closed', '['.repeat(40_000)],
  ])('is refused if %s are nested deeper than 64 levels', (_what, text) => {
    expect(shape(text)).toThrow(/deeper than 64/);
  });

  it('has at most 256 members in an object, names that occur twice included', () => {
    for (const text of [wide(256), wide(256, () => 'a'), `[${wide(256)},${wide(256)}]`])
      expect(shape(text)).not.toThrow();
    for (const text of [wide(257), wide(257, () => 'a'), `{"b":[1,${wide(257)}]}`, wide(257).replaceAll(':', ' : ')])
      expect(shape(text)).toThrow(/more than 256 members/);
  });

  it.each([
    ['letters', 'x', 'x'],
    ['characters of two bytes', 'é', 'é'],
    ['characters of four bytes', '🔑', '🔑'],
    ['escaped letters', '\\u0061', '\\u0061'],
    ['escaped pairs of surrogates', '\\ud83d\\uDD11', '\\ud83d\\uDD11'],
    ['halves of pairs', '\\ud83d', '\\ud83d'],
    ['escaped quotes', '\\"', '\\\\'],
  ])('has at most 60 characters in a name: %s', (_what, unit, last) => {
    expect(shape(`{"${unit.repeat(60)}":1}`)).not.toThrow();
    expect(shape(`{"${unit.repeat(60)}${last}":1}`)).toThrow(/longer than 60 characters/);
    expect(shape(`{"a":"${unit.repeat(61)}"}`)).not.toThrow();
  });

  it('has at most 2,000 members and elements, in a batch 50,000', () => {
    expect(shape(heavy(2000))).not.toThrow();
    expect(shape(heavy(2001))).toThrow(/more than 2000 members and elements/);
    expect(shape(heavy(2001).replaceAll('0', '[ ]'))).toThrow(/more than 2000 members and elements/);
    expect(shape(heavy(50_000), batch)).not.toThrow();
    expect(shape(heavy(50_001), batch)).toThrow(/more than 50000 members and elements/);
    expect(shape(`{"devices":[${Array.from({ length: 200 }, () => wide(256)).join()}]}`, batch)).toThrow(/50000/);
  });

  it('allows 50,000 for batches, policies of proofs, evidence and credentials of candidates only', () => {
    const many = (Object.values(routes) as readonly RouteShape[]).filter(route => shapeBounds(route).values > 2000);
    expect(many.map(route => `${route.path} ${shapeBounds(route).values}`).sort()).toEqual([
      '/api/devices/batch-register 50000',
      '/api/devices/batch-update 50000',
      '/api/hardware/keys/{keyId}/identify 50000',
      '/api/people/import 50000',
      '/api/people/match 50000',
      '/api/policies/proof 50000',
      '/api/proofs/{proofId} 50000',
    ]);
  });

  it('allows 10,000 registrations with all fields and tags, and 2,000 members and elements beside them', () => {
    expect(Object.keys(everything).sort()).toEqual(Object.keys(batchRegistration.properties).sort());
    for (const item of [required, everything]) {
      expect(shape(devices(item), batch)).not.toThrow();
      expect(shape(devices(item, 10_000, { x: Array.from({ length: 1999 }, () => 0) }), batch)).not.toThrow();
      expect(shape(devices(item, 10_000, { x: Array.from({ length: 2000 }, () => 0) }), batch)).toThrow(/50000/);
    }
    expect(shape(devices({ ...everything, unknown: 1 }), batch)).toThrow(/50000/);
    expect(shape(devices({ ...everything, tags: { ...tags, one: 'x' } }), batch)).toThrow(/50000/);
    expect(shape(devices({}, 60_000), batch)).toThrow(/50000/);
    // Repeated fields, a repeated array, and fields elsewhere are not those of an item.
    const twice = `{"devices":[${Array.from({ length: 9000 }, () => `{${'"model":"x",'.repeat(19)}"model":"x"}`).join()}]}`;
    expect(shape(twice, batch)).toThrow(/50000/);
    const one = devices(required).slice(1, -1);
    expect(shape(`{${one},${one}}`, batch)).toThrow(/50000/);
    expect(shape(devices(everything).replace('devices', 'others'), batch)).toThrow(/50000/);
  });

  it('has no name __proto__, however it is written', () => {
    for (const name of ['__proto__', escaped('__proto__'), '__pr\\u006Fto__'])
      expect(shape(`{"a":[{"${name}" : 1}]}`)).toThrow(/__proto__ is not allowed/);
    for (const text of ['{"__proto_":1}', '{"__proto___":1}', '{"a":"__proto__"}', '["__proto__"]'])
      expect(shape(text)).not.toThrow();
  });
});

describe('a large body', () => {
  const read = async (text: string) => readJson(Buffer.from(text), batch);
  const refusal = (text: string) => read(text).then(String, (error: Error) => error.message);
  const long = Array.from({ length: 9000 }, (_, i) => ({ ...required, serialNumber: `S "${i}],é` }));
  const list = JSON.stringify(long);

  it('is what JSON.parse makes of it', async () => {
    const texts = [
      `{"devices":${list}}`,
      `{"a":1,"devices" : ${list} ,"b":[[1],{"c":[]}]}`,
      `{"devices":${list},"devices":[]}`,
      `{"devices":[],"x":[${'[],'.repeat(9000)}1],"devices":${JSON.stringify(long.slice(0, 6000))}}`,
      `{"devices":{"a":[${'1,'.repeat(40_000)}1]}}`,
      `[${'{"a":"b"},'.repeat(12_000)}1]`,
      `{"x":[${Array.from({ length: 40_000 }, (_, i) => (i % 7 ? `${i}.5e-3` : 'null')).join(' , ')}]}`,
    ];
    for (const text of texts) expect(await read(text)).toEqual(JSON.parse(text));
  });

  it('is read the same wherever a step of the scan ends', async () => {
    const units = ['\\\\', '\\"', '\\u0041', 'é', '"],"y":["', '12.5e3,', '[[]],', ' '];
    for (const unit of units)
      for (let shift = 0; shift < 8; shift++) {
        const isText = unit !== '12.5e3,' && unit !== '[[]],';
        const content = unit.repeat(12);
        const before = 'x'.repeat(2 ** 20 - 30 - shift);
        const text = isText ? `{"x":["${before}${content}"]}` : `{"b":"${before}","x":[${content}1]}`;
        expect(await read(text)).toEqual(JSON.parse(text));
      }
  });

  it('is what JSON.parse makes of it, or refused as JSON.parse does, whatever is long and wherever a byte is wrong', async () => {
    const random = mulberry(26);
    let refused = 0;
    for (let i = 0; i < 30; i++) {
      let body = Buffer.from(randomJson(random, 200_000 + random() * 800_000));
      if (i % 2 === 1) {
        body[Math.floor(random() * body.length)] = '{}[],:"\\x0 '.charCodeAt(Math.floor(random() * 11));
        // A replacement character where a character has lost a byte.
        body = Buffer.from(body.toString());
      }
      const text = body.toString();
      const wanted = ((): unknown => {
        try {
          return { value: JSON.parse(text) };
        } catch {
          return 'the body is not valid JSON';
        }
      })();
      const bounds = { values: 1e9, name: 1e9 };
      const got = await (async () => ({ value: await readJson(body, bounds) }))().catch(
        (error: Error) => error.message,
      );
      if (typeof wanted === 'string') refused++;
      // Equal texts: the order of members counts, too, and a comparison of long texts would print them.
      expect(JSON.stringify(got) === JSON.stringify(wanted), `body ${i}`).toBe(true);
    }
    expect(refused).toBeGreaterThan(5);
  });

  it.each([
    ['a comma at the end', `{"devices":[${list.slice(1, -1)},]}`],
    ['a comma at the end of an array, after a long number', `[${'1'.repeat(300_000)},]`],
    ['a comma at the end of an object, after a long number', `{"a":${'1'.repeat(300_000)},}`],
    ['a comma at the beginning', `{"devices":[,${list.slice(1)}}`],
    ['two commas', `{"devices":${list.replaceAll('},{', '},,{')}}`],
    ['no comma', `{"devices":${list.replaceAll('},{', '} {')}}`],
    ['brackets that do not match', `{"devices":${list.slice(0, -1)}}]`],
    ['an array that does not end', `{"devices":${list.slice(0, -1)}`],
    ['a text that does not end', `{"devices":${list},"x":"`],
    ['an array as a name', `{${list}:1}`],
    ['two arrays', `{"devices":${list}${list.slice(0, 20_000)}]}`],
    ['something after it', `{"devices":${list}} x`],
    ['two bodies', `{"devices":${list}}{}`],
    ['an unknown word', `{"devices":${list.replace('"K9"', 'K9')}}`],
    ['a line break in a text', `{"devices":${list.replace('"K9"', '"K\n9"')}}`],
  ])('is refused with %s', async (_what, text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(await refusal(text)).toMatch(/not valid JSON|more than/);
  });
});

describe('a daemon', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon?.stop());

  const headers = { 'content-type': 'application/json' };

  it('answers a batch of 15 MiB of brackets with 1001, and other requests at the same time', async () => {
    const raw = `{"devices":${nested(7_500_000)}}`;
    const refused = daemon.call('POST', '/api/devices/batch-register', undefined, { raw, headers });
    const started = performance.now();
    while (performance.now() - started < 300) expect((await daemon.call('GET', '/api/users/me')).code).toBe(200);
    expect(await refused).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining('nested') });
    // JSON.parse would hold every other request for longer than this.
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  it.each([
    ['257 members', wide(257), /256 members/],
    ['a name of 61 characters', JSON.stringify({ ...required, ['é'.repeat(61)]: 1 }), /60 characters/],
    ['2,001 members and elements', heavy(2001), /2000 members and elements/],
    ['an unknown member of 2,001 in all', JSON.stringify({ ...required, x: Array(1997).fill(0) }), /2000/],
  ])('refuses a registration with %s', async (_what, raw, message) => {
    const refused = await daemon.call('POST', '/api/devices/register', undefined, { raw, headers });
    expect(refused).toMatchObject({ status: 400, code: 1001, message: expect.stringMatching(message) });
  });

  it('registers 10,000 devices with all fields and tags', async () => {
    const items = Array.from({ length: 10_000 }, (_, i) => ({ ...everything, serialNumber: `S-${i}` }));
    const { code, data } = await daemon.call('POST', '/api/devices/batch-register', { devices: items });
    expect({ code, success: data.success }).toEqual({ code: 200, success: 10_000 });
  });
});
