/** The client as programs get it: its types, and the example of its page against a real daemon. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { serviceToken } from '../support/service-token.ts';
import { temporaryFolder } from '../support/temporary.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const built = join(root, 'dist/client');
const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(built, 'README.md'), 'utf8'))![1]!;

/** A program that has the package among its own. */
function programWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(built, join(folder, 'node_modules/devmgr-client'));
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files }))
    writeFileSync(join(folder, name), text);
  return folder;
}

const compilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  target: 'es2022',
  lib: ['es2022'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
};
const wrong = `import { connect } from 'devmgr-client';
const registry = connect({ server: 'http://localhost', token: 'x' });
// @ts-expect-error: no such operation
await registry.call('lockAll');
// @ts-expect-error: the serial number is missing
await registry.call('registerDevice', { body: { deviceType: 'UKEY', manufacturer: 'Feitian', model: 'ePass K9' } });
// @ts-expect-error: no such status
registry.items('listDevices', { query: { status: 'BROKEN' } });
// @ts-expect-error: this operation has no pages
registry.items('getDevice');
// @ts-expect-error: a lock needs a reason
await registry.change('lockDevice', 'DEV-1', () => ({}));
for await (const event of registry.events({ types: ['DEVICE_LOCKED'] })) {
  // @ts-expect-error: this event has no such field
  event.data.activationCode;
}
const person = await registry.call('getPerson', { params: { personId: 'PER-1' } });
// @ts-expect-error: a name can be null
person.name.length;
for await (const part of registry.download('exportDevices', { query: { format: 'csv' } })) part.byteLength;
`;

describe('the types of the client package', () => {
  const compilers = {
    '5': join(root, 'tests/tools/node_modules/typescript/bin/tsc'),
    '7': join(root, 'node_modules/typescript/bin/tsc'),
  };
  it.each(Object.entries(compilers).filter(([, file]) => existsSync(file) || process.env.CI))(
    'compile under TypeScript %s, which rejects wrong calls',
    { timeout: 120_000 },
    async (version, compiler) => {
      const files = { 'example.ts': example, 'wrong.ts': wrong };
      const options = JSON.stringify({ compilerOptions, files: Object.keys(files) });
      const folder = programWith({ ...files, 'tsconfig.json': options });
      const { stdout: banner } = await run(process.execPath, [compiler, '--version']);
      expect(banner).toContain(`Version ${version}.`);
      const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch(
        (failed: { stdout: string }) => failed,
      );
      expect(stdout).toBe('');
    },
  );
});

describe('the client package', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon.stop());

  const started = async (text: string, env: Readonly<Record<string, string>>) => {
    const folder = programWith({ 'program.ts': text });
    const all = { ...process.env, DEVMGR_SERVER: daemon.url, ...env };
    return (await run(process.execPath, [join(folder, 'program.ts')], { env: all, timeout: 60_000 })).stdout;
  };
  const adminLogin = `server: process.env.DEVMGR_SERVER!, login: { username: 'admin', password: process.env.PASSWORD! }`;

  it('registers, activates, watches and pages, as its example shows', { timeout: 60_000 }, async () => {
    expect(example.trim().split('\n').length).toBeLessThanOrEqual(25);
    const { token } = await serviceToken(daemon);
    const lines = (await started(example, { DEVMGR_TOKEN: token })).trim().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^event \d+: DEV-1 belongs to alice$/),
      'DEV-1 UK-2026-000001',
      expect.stringMatching(/^2001 /),
    ]);
  });

  it('reads every page, and decides again when a device has changed', { timeout: 60_000 }, async () => {
    const serials = Array.from({ length: 120 }, (_, at) => `PKG-${at}`);
    const devices = serials.map(serialNumber => ({
      deviceType: 'UKEY',
      serialNumber,
      manufacturer: 'Feitian',
      model: 'ePass K9',
    }));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const text = `import { connect, DevmgrError } from 'devmgr-client';
const registry = connect({ ${adminLogin} });
let count = 0;
let deviceId = '';
for await (const device of registry.items('listDevices', { query: { keyword: 'PKG-', size: 50 } })) {
  count++;
  deviceId = device.deviceId;
}
const seen: number[] = [];
const changed = await registry.change('updateDevice', deviceId, device => {
  seen.push(device.version);
  return { note: 'mine' };
});
const other = connect({ ${adminLogin} });
const both = await Promise.all(
  [registry, other].map(each => {
    let tries = 0;
    return each.change('updateDevice', deviceId, device => {
      tries++;
      return { tags: { ...device.tags, [each === registry ? 'one' : 'two']: String(tries) } };
    });
  }),
);
const { tags } = await registry.call('getDevice', { params: { deviceId } });
const details = await registry
  .call('registerDevice', { body: { deviceType: 'UKEY', serialNumber: '', manufacturer: '', model: 'x' } })
  .catch(error => (error as DevmgrError).details.map(({ field }) => field));
const { version } = await registry.call('getDevice', { params: { deviceId } });
const refused = await registry
  .send('updateDevice', { params: { deviceId }, body: { note: 'late' } }, { version: version - 1 })
  .catch(error => (error as DevmgrError).code);
const once = { key: 'one-key' };
const body = { deviceType: 'UKEY', serialNumber: 'PKG-once', manufacturer: 'Feitian', model: 'ePass K9' } as const;
const first = await registry.send('registerDevice', { body }, once);
const again = await registry.send('registerDevice', { body }, once);
let bytes = 0;
for await (const part of registry.download('exportDevices', { query: { format: 'ndjson', keyword: 'PKG-' } })) bytes += part.length;
console.log(JSON.stringify({ count, note: changed?.note, seen: seen.length, details, refused, tags: [both.length, ...Object.keys(tags).sort()], same: first.deviceId === again.deviceId, bytes: bytes > 1000 }));
`;
    const shown = JSON.parse(await started(text, { PASSWORD: adminPassword }));
    expect(shown).toEqual({
      count: 120,
      note: 'mine',
      seen: 1,
      details: ['serialNumber', 'manufacturer'],
      refused: 412,
      // Neither change is lost, whichever came first.
      tags: [2, 'one', 'two'],
      same: true,
      bytes: true,
    });
  });
});
