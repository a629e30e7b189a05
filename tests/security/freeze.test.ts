/** No single request may hold the daemon: the work for each input is bounded by its length, and its length by a limit. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bits, bitsFor } from '../../daemon/devices/sqlite/lists/bits.ts';
import { addIdsWith } from '../../daemon/devices/sqlite/lists/id-digits.ts';
import { readJson } from '../../daemon/http/json-body.ts';
import { shapeBounds } from '../../daemon/http/json-shape.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { routes } from '../../src/contract/routes.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { boundary, file, formBytes, formType, needed, uploadPath } from '../support/forms.ts';
import { mainThreadMilliseconds } from '../support/main-thread.ts';

/** Milliseconds of the main thread that one request may take. Elapsed time would depend on other load of the machine. */
const MOST = 50;
const LONG = 100_000;
/** Node refuses headers, including the path, of more than 16 KiB. */
const LONG_HEADER = 15_000;

/** Texts of this length that make a careless pattern retry at every position. */
const hostile = (length: number): Readonly<Record<string, string>> => ({
  'inner spaces': `a${' '.repeat(length - 2)}b`,
  'spaces alone': ' '.repeat(length),
  'digits and a letter': `${'1'.repeat(length - 1)}x`,
  'one letter': 'a'.repeat(length),
  'dots and digits': `${'1.'.repeat(length / 2)}x`,
});

let home: string;
let daemon: DaemonProcess;
let deviceId: string;
let versionId: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-freeze-'));
  daemon = await spawnDaemon({ home });
  const device = { deviceType: 'UKEY', serialNumber: 'F-1', manufacturer: 'Acme', model: 'K1' };
  ({ deviceId } = (await daemon.call('POST', '/api/devices/register', device)).data);
  const uploaded = await send('POST', uploadPath, {
    headers: { 'content-type': formType },
    body: formBytes([...needed('ANDROID', '1.0.0'), file('a.apk', 'x'.repeat(1000))]),
  });
  ({ versionId } = uploaded.data as { versionId: string });
});
afterAll(async () => {
  await daemon?.stop();
  await rm(home, { recursive: true, force: true });
});

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}
interface Received {
  readonly status: number;
  readonly code: number | null;
  readonly data: unknown;
}

/** `fetch` refuses some of these headers itself. */
function send(method: string, path: string, { headers = {}, body }: Sent = {}): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      daemon.url + path,
      { method, headers: { authorization: `Bearer ${daemon.token}`, ...headers }, agent: false },
      response => {
        const chunks: Buffer[] = [];
        response
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const envelope = text.startsWith('{') ? (JSON.parse(text) as { code?: number; data?: unknown }) : {};
            resolve({ status: response.statusCode!, code: envelope.code ?? null, data: envelope.data });
          });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** The minimum of three tries: compilation and garbage collection affect one of them, a slow pattern all. */
async function workOf(ask: () => Promise<Received>): Promise<{ readonly work: number; readonly received: Received }> {
  let work = Number.POSITIVE_INFINITY;
  let received: Received | undefined;
  for (let i = 0; i < 3 && work > MOST; i++) {
    const before = mainThreadMilliseconds(daemon.pid);
    received = await ask();
    work = Math.min(work, mainThreadMilliseconds(daemon.pid) - before);
  }
  return { work, received: received! };
}

async function expectLittleWork(ask: () => Promise<Received>): Promise<void> {
  const { work, received } = await workOf(ask);
  expect(received.status).toBeLessThan(500);
  expect(work).toBeLessThan(MOST);
}

const isText = (schema: unknown): boolean => {
  const { type, anyOf } = schema as { type?: string; anyOf?: readonly unknown[] };
  return type === 'string' || (anyOf?.some(isText) ?? false);
};
const pathOf = (shape: RouteShape): string =>
  shape.path
    .replace('{deviceId}', deviceId)
    .replace('{versionId}', versionId)
    .replace(/\{\w+\}/, 'X-1');

const all = Object.values(routes) as readonly RouteShape[];
const bodyFields = all.flatMap(shape =>
  Object.entries(shape.body?.properties ?? {})
    .filter(([, schema]) => isText(schema))
    .map(([name]) => ({ id: shape.id, name, shape })),
);
const queryFields = all.flatMap(shape =>
  Object.keys(shape.query?.properties ?? {}).map(name => ({ id: shape.id, name, shape })),
);
const formFields = all.flatMap(shape =>
  Object.keys(shape.form?.properties ?? {}).map(name => ({ id: shape.id, name, shape })),
);

describe.runIf(process.platform === 'linux')('100 kB costs no more than a few milliseconds', () => {
  it.each(bodyFields)('in $name of $id', async ({ name, shape }) => {
    for (const text of Object.values(hostile(LONG))) {
      const body = JSON.stringify({ ...shape.example?.body, [name]: text });
      const headers = { 'content-type': 'application/json' };
      await expectLittleWork(() => send(shape.method, pathOf(shape), { headers, body }));
    }
  });

  it.each(formFields)('in the form field $name of $id', async ({ name, shape }) => {
    for (const text of Object.values(hostile(LONG))) {
      const body = formBytes([[name, text], file('a.apk')]);
      await expectLittleWork(() => send(shape.method, pathOf(shape), { headers: { 'content-type': formType }, body }));
    }
  });

  it.each(queryFields)('in the query value $name of $id (as long as a header may be)', async ({ name, shape }) => {
    for (const text of Object.values(hostile(LONG_HEADER))) {
      const value = text.replaceAll(' ', '+');
      await expectLittleWork(() => send(shape.method, `${pathOf(shape)}?${name}=${value}`));
    }
  });

  const headers = [
    ...['authorization', 'host', 'origin', 'range', 'if-range', 'if-none-match', 'content-type', 'x-forwarded-for'],
    ...[
      'idempotency-key',
      'accept',
      'x-request-id',
      'content-disposition',
      'sec-websocket-protocol',
      'sec-websocket-extensions',
    ],
  ];
  it.each(headers)('in the header %s', async name => {
    const tabs = '\t'.repeat(LONG_HEADER / 2);
    const prefix = { range: 'bytes=', authorization: 'Bearer ', 'content-type': 'multipart/form-data;' }[name] ?? '';
    const values = [`${tabs}-${tabs}x`, ...Object.values(hostile(LONG_HEADER))].map(text => prefix + text);
    const download = `/api/app-versions/${versionId}/download`;
    for (const value of values) {
      await expectLittleWork(() => send('GET', download, { headers: { [name]: value } }));
      await expectLittleWork(() => send('POST', uploadPath, { headers: { [name]: value }, body: 'x' }));
      await expectLittleWork(() => send('POST', '/api/devices/DEV-9/unlock', { headers: { [name]: value } }));
    }
  });
});

/** Bodies of a batch, as large as they may be, that once held the daemon or come closest to it. */
const LARGE = 16 * 2 ** 20;
const filled = (start: string, unit: string, end: string) =>
  start + unit.repeat(Math.floor((LARGE - start.length - end.length) / Buffer.byteLength(unit))) + end;
const members = (count: number, name: (i: number) => string) =>
  `{${Array.from({ length: count }, (_, i) => `"${name(i)}":1`).join()}}`;
const escapedName = (i: number) =>
  String(i)
    .padStart(50, 'n')
    .replaceAll(/./g, symbol => `\\u00${symbol.charCodeAt(0).toString(16)}`);
const tagged = (value: string) =>
  JSON.stringify({
    devices: Array.from({ length: 10_000 }, (_, i) => ({
      tags: Object.fromEntries(Array.from({ length: 16 }, (_, j) => [`t${i}x${j}`, value])),
    })),
  });
const largeBodies: Readonly<Record<string, () => string>> = {
  'distinct names': () => `{"devices":[${members(1_400_000, i => `n${i}`)}]}`,
  'distinct names in many objects': () =>
    `{"devices":[${Array.from({ length: 5000 }, (_, i) => members(256, j => `n${i}x${j}`)).join()}]}`,
  'as many names as there may be, all escaped': () =>
    `{"devices":[[${Array.from({ length: 190 }, (_, i) => members(256, j => escapedName(i * 256 + j))).join()}]]}`,
  'one name twice, again and again': () => filled('{', '"a":1,', '"a":1}'),
  'one long name': () => filled('{"', 'n', '":1}'),
  'one long escaped name': () => filled('{"', '\\u006e', '":1}'),
  'one long text': () => filled('{"a":"', 'x', '"}'),
  'one long text of escapes': () => filled('{"a":"', '\\u00e9', '"}'),
  'one long text of U+0000': () => filled('{"a":"', '\\u0000', '"}'),
  'one long text of line feeds': () => filled('{"a":"', '\\n', '"}'),
  'one long text of letters of two bytes': () => filled('{"a":"', 'é', '"}'),
  '256 texts of line feeds': () => members(256, i => `n${i}`).replaceAll('1,', `"${'\\n'.repeat(32_000)}",`),
  'as many names as there may be, one level deeper each, and U+0000': () =>
    `{"devices":${Array.from({ length: 60 }, (_, i) => `[${Array.from({ length: 3 }, (_, j) => members(256, k => escapedName((i * 3 + j) * 256 + k))).join()},`).join('')}"\\u0000"${']'.repeat(60)}}`,
  'one long text of emoji': () => filled('{"a":"', '🔑', '"}'),
  'one number': () => filled('{"a":', '1', '}'),
  'one fraction': () => filled('{"a":0.', '0', '1}'),
  'white space': () => filled('', ' ', '{}'),
  colons: () => filled('', ':', '{}'),
  commas: () => filled('[', ',', ']'),
  brackets: () => filled('', '[', ''),
  'pairs of brackets': () => filled('[', '[],', '[]]'),
  quotes: () => filled('', '"', ''),
  backslashes: () => filled('{"a":"', '\\\\', '"}'),
  '50,000 long numbers': () => filled('[', `${'1'.repeat(345)},`, '1]'),
  '10,000 items with 16 tags each': () => tagged('v'.repeat(50)),
};

describe('a body of 16 MiB', () => {
  const bounds = shapeBounds(routes.batchRegisterDevices);
  /**
   * Milliseconds of the longest turn of the event loop while the body is read: of processor time, the least of up to ten tries. Other load
   * of the machine slows the processor's caches as well; the slowest of these takes 20 ms without it.
   */
  async function longestTurn(body: Buffer): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 10 && least > MOST; i++) {
      let longest = 0;
      let isDone = false;
      let before = process.threadCpuUsage();
      const reading = (async () => readJson(body, bounds))()
        .catch(() => {})
        .finally(() => {
          isDone = true;
        });
      while (!isDone) {
        await new Promise(setImmediate);
        const { user, system } = process.threadCpuUsage(before);
        longest = Math.max(longest, (user + system) / 1000);
        before = process.threadCpuUsage();
      }
      await reading;
      least = Math.min(least, longest);
    }
    return least;
  }

  it.each(Object.entries(largeBodies))('of %s is read in turns of at most 50 ms', async (_what, text) => {
    const body = Buffer.from(text()).subarray(0, LARGE);
    expect(await longestTurn(body)).toBeLessThan(MOST);
  });
});

it('a keyword of 15,000 digits and a letter is not scanned again at every position', () => {
  const bits: Bits = bitsFor(100);
  const keyword = `${'1'.repeat(2_000_000)}x`;
  // Two million characters: a pattern that starts over at each would take minutes, and the test would time out.
  addIdsWith(bits, keyword, 100);
  expect([...bits]).toEqual([0, 0, 0, 0]);
});

it.each([1_100_000, 4_400_000])(
  'an upload of %d bytes that resembles its own boundary is stored unchanged',
  async size => {
    // The parser holds back the first bytes of a boundary at the end of each chunk and emits them with the next.
    const almost = Buffer.from(`\r\n--${boundary.slice(0, -1)}`);
    const content = Buffer.alloc(size, almost);
    const { status, data } = await send('POST', uploadPath, {
      headers: { 'content-type': formType },
      body: formBytes([...needed('ANDROID', `2.${size}.0`), file('a.apk', content)]),
    });
    expect({ status, size: (data as { fileSize?: number } | null)?.fileSize }).toEqual({ status: 200, size });
  },
);
