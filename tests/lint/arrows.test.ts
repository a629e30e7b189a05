import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { importsOf, rules, violationsIn } from '../../scripts/arrows.ts';

/** Sources that each break a rule: where one stands, what it says, and why it may not. */
const broken: readonly (readonly [file: string, source: string, reason: RegExp])[] = [
  ['src/commands/list.ts', "import { tmp } from '../../tests/support/tmp.ts';", /shipped without its tests/],
  ['daemon/server.ts', "import '../bin/devmgr.ts';", /nobody stands above/],
  ['src/commands/list.ts', "import { Home } from '../../daemon/home.ts';", /HTTP interface alone/],
  ['src/client/call.ts', "import type { Driver } from '../../drivers/driver.ts';", /HTTP interface alone/],
  ['daemon/home.ts', "import { say } from '../src/terminal/io.ts';", /src\/api, alone/],
  ['drivers/text.ts', "import { trimText } from '../src/api/text.ts';", /drivers know nobody/],
  ['drivers/hid/index.ts', "export * from '../../daemon/log.ts';", /drivers know nobody/],
  ['src/api/codes.ts', "import { readFileSync } from 'node:fs';", /tables and types/],
  ['src/api/codes.ts', "import { readFileSync } from 'fs';", /tables and types/],
  ['src/api/routes.ts', "import { call } from '../client/call.ts';", /tables and types/],
  ['src/client/call.ts', "import { table } from '../terminal/table.ts';", /commands → client → api/],
  ['src/client/call.ts', "import { profile } from '../settings/profiles.ts';", /commands → client → api/],
  ['src/session/places.ts', "import { table } from '../terminal/table.ts';", /shows nothing/],
  ['src/settings/profiles.ts', "import { alive } from '../session/alive.ts';", /before there is a client/],
  ['src/terminal/table.ts', "import { profile } from '../settings/profiles.ts';", /asks nobody/],
  ['src/settings/profiles.ts', "import { call } from '../client/call.ts';", /before there is a client/],
  ['src/commands/list.ts', "const { run } = await import('../main.ts');", /would run itself/],
  ['src/service/systemd.ts', "import { readPackaged } from '../settings/packaged.ts';", /facts it is handed/],
  ['daemon/domain/device.ts', "import { readFile } from 'node:fs/promises';", /does no I\/O/],
  ['daemon/domain/device.ts', "import { DeviceService } from '../services/devices.ts';", /does no I\/O/],
  ['daemon/store/store.ts', "import { DeviceService } from '../services/devices.ts';", /decides nothing/],
  ['daemon/services/devices.ts', "import type { FastifyRequest } from 'fastify';", /HTTP ends at the routes/],
  ['daemon/services/devices.ts', "import { createServer } from 'node:http';", /HTTP ends at the routes/],
  ['daemon/events/outbox.ts', "import { deviceRoutes } from '../routes/devices.ts';", /HTTP ends at the routes/],
  ['daemon/services/devices.ts', "import { open } from '../store/sqlite/open.ts';", /main alone says which store/],
  ['daemon/routes/devices.ts', "import { HidDriver } from '../../drivers/driver.ts';", /asks a service/],
  ['daemon/server.ts', "import { startDaemon } from './main.ts';", /composition root/],
  ['daemon/keys/keys.ts', "import { hidDriver } from '../../drivers/hid/index.ts';", /what a driver is/],
  ['drivers/ukey/serial.ts', "import { open } from '../hid/handle.ts';", /over the connection it is given/],
  ['daemon/home.ts', "import Database from 'better-sqlite3';", /another store must be able/],
  ['daemon/home.ts', "const hid = await import('node-hid');", /native USB modules/],
  ['drivers/pcsc/library.ts', "const { usb } = require('usb/index.js');", /native USB modules/],
  ['drivers/hid/index.ts', "createRequire(import.meta.url || process.argv[1])('pcsc-mini');", /native PC\/SC module/],
  ['src/commands/login.ts', "const { Entry } = await import('@napi-rs/keyring');", /does without a keychain/],
  ['daemon/log.ts', "import type { FastifyInstance } from 'fastify';", /known where HTTP is/],
  ['drivers/hid/native.ts', "import hid from 'node-hid';", /loaded when it is needed/],
];

const good: readonly (readonly [file: string, source: string])[] = [
  [
    'src/commands/list.ts',
    "import { call } from '../client/call.ts';\nimport { listDevices } from '../api/devices.ts';",
  ],
  [
    'daemon/services/devices.ts',
    "import type { Store } from '../store/store.ts';\nimport { judge } from '../domain/device.ts';",
  ],
  ['daemon/store/sqlite/open.ts', "import Database from 'better-sqlite3';"],
  ['drivers/hid/native.ts', "import type { Device } from 'node-hid';\nconst { HID } = await import('node-hid');"],
  [
    'bin/devmgr.ts',
    "import { run } from '../src/main.ts';\nconst { startDaemon } = await import('../daemon/main.ts');",
  ],
  [
    'src/api/codes.ts',
    "// import 'node:fs'\n/* export * from '../client/call.ts' */\nexport const hint = \"import x from 'node:fs'\";",
  ],
];

describe('arrows between the rooms', () => {
  it.each(broken)('%s may not say: %s', (file, source, reason) => {
    expect(violationsIn(file, source).map(({ because }) => because)).toContainEqual(expect.stringMatching(reason));
  });

  it.each(good)('%s may say: %s', (file, source) => {
    expect(violationsIn(file, source)).toEqual([]);
  });

  it('has a broken example for every rule', () => {
    const seen = new Set(broken.flatMap(([file, source]) => violationsIn(file, source).map(({ because }) => because)));
    expect(rules.map(({ because }) => because).filter(reason => !seen.has(reason))).toEqual([]);
  });

  it('refuses an import whose name is computed, and a package that package.json does not name', () => {
    expect(violationsIn('src/main.ts', 'await import(name);')).toHaveLength(1);
    expect(violationsIn('src/main.ts', `await import(\`./\${name}.ts\`);`)).toHaveLength(1);
    expect(violationsIn('src/main.ts', "import x from 'left-pad';", new Set(['commander']))).toHaveLength(1);
  });

  it('reads imports over several lines, and says on which line they begin', () => {
    const source = "const a = 1;\nimport {\n  b,\n  type C,\n} from './b.ts';\nexport type { D } from './d.ts';\n";
    expect(importsOf(source)).toEqual([
      { name: './b.ts', line: 2, kind: 'start' },
      { name: './d.ts', line: 6, kind: 'types' },
    ]);
  });
});

describe('the check as npm test runs it', () => {
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true }))));

  async function check(files: Readonly<Record<string, string>>): Promise<{ code: number; stderr: string }> {
    const root = await mkdtemp(join(tmpdir(), 'devmgr-arrows-'));
    folders.push(root);
    for (const [name, text] of Object.entries({ 'package.json': '{}', ...files })) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    const script = join(import.meta.dirname, '../../scripts/arrows.ts');
    return promisify(execFile)(process.execPath, [script, root]).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }) => ({ code, stderr }),
    );
  }

  it('fails on an import that goes upwards, naming file, line and reason', async () => {
    const { code, stderr } = await check({ 'src/api/codes.ts': "\nimport { run } from '../main.ts';\n" });
    expect(code).toBe(1);
    expect(stderr).toContain('src/api/codes.ts:2 must not import ../main.ts');
    expect(stderr).toContain('the contract is tables and types');
  });

  it('passes where all arrows go down, and fails where there is nothing to check', async () => {
    expect((await check({ 'src/main.ts': "import { codes } from './api/codes.ts';\n" })).code).toBe(0);
    expect((await check({})).code).toBe(1);
  });
});
