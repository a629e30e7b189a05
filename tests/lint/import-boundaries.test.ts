import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { importsOf, violationsIn } from '../../scripts/import-boundaries.ts';
import { rules, subjects } from '../../scripts/lib/import-rules.ts';

/** Sources that each break a rule: its file, its import, and why that is forbidden. */
const broken: readonly (readonly [file: string, source: string, reason: RegExp])[] = [
  [
    'src/cli/commands/devices/list.ts',
    "import { tmp } from '../../../../tests/support/tmp.ts';",
    /shipped without its tests/,
  ],
  ['daemon/http/server.ts', "import '../../bin/devmgr.ts';", /nothing imports it/],
  [
    'src/cli/commands/devices/list.ts',
    "import { Home } from '../../../../daemon/home/home.ts';",
    /only by its HTTP interface/,
  ],
  ['src/cli/client/call.ts', "import type { Driver } from '../../../drivers/driver.ts';", /only by its HTTP interface/],
  ['daemon/home/home.ts', "import { say } from '../../src/cli/terminal/io.ts';", /share the contract and the engine/],
  [
    'src/delivery/delivery.ts',
    "import { setTimeout } from 'node:timers/promises';",
    /positions, requests and time are passed in/,
  ],
  ['drivers/text.ts', "import { trimText } from '../src/contract/text.ts';", /usable without the daemon/],
  ['drivers/hid/index.ts', "export * from '../../daemon/base/logger.ts';", /usable without the daemon/],
  ['console/app.tsx', "import { open } from '../src/cli/main.ts';", /the console runs in a browser/],
  ['daemon/start/main.ts', "import { App } from '../../console/app.tsx';", /serves the files of the console/],
  ['src/contract/webhooks/scheme.ts', "import { readFileSync } from 'node:fs';", /both sides sign webhooks/],
  ['src/contract/receipts/check.ts', "import { readFileSync } from 'node:fs';", /check receipts with it/],
  ['src/contract/codes.ts', "import { readFileSync } from 'node:fs';", /data and types/],
  ['src/contract/codes.ts', "import { readFileSync } from 'fs';", /data and types/],
  ['src/contract/routes.ts', "import { call } from '../cli/client/call.ts';", /data and types/],
  ['src/cli/client/call.ts', "import { table } from '../terminal/table.ts';", /commands → client → contract/],
  [
    'src/client-package/index.ts',
    "import { table } from '../cli/terminal/table.ts';",
    /the client of the command line/,
  ],
  ['src/cli/client/call.ts', "import { profile } from '../settings/profiles.ts';", /commands → client → contract/],
  ['src/cli/session/endpoints.ts', "import { table } from '../terminal/table.ts';", /neither prints nor prompts/],
  ['src/cli/settings/profiles.ts', "import { session } from '../session/session.ts';", /before a client/],
  ['src/cli/terminal/table.ts', "import { profile } from '../settings/profiles.ts';", /fetches none/],
  ['src/cli/settings/profiles.ts', "import { call } from '../client/call.ts';", /before a client/],
  ['src/cli/commands/devices/list.ts', "const { run } = await import('../../main.ts');", /could run itself/],
  [
    'src/cli/commands/daemon/service/systemd.ts',
    "import { readPackaged } from '../settings/packaged.ts';",
    /plain values/,
  ],
  ['daemon/devices/records.ts', "import { readFile } from 'node:fs/promises';", /do no I\/O/],
  ['daemon/devices/decisions.ts', "import { DeviceService } from './service.ts';", /do no I\/O/],
  ['daemon/proofs/judge/judge.ts', "import { rootCertificates } from 'node:tls';", /any verdict can be repeated/],
  ['daemon/store/store.ts', "import { DeviceService } from '../devices/service.ts';", /decides nothing/],
  ['daemon/store/subjects.ts', "import { receipts } from '../receipts/index.ts';", /knows none of them/],
  ['daemon/requests/context.ts', "import type { UserChange } from '../accounts/user.ts';", /knows none of them/],
  ['daemon/store/write/apply.ts', "import { statSync } from 'node:fs';", /once for all engines/],
  ['daemon/devices/service.ts', "import type { FastifyRequest } from 'fastify';", /HTTP ends in daemon/],
  ['daemon/devices/service.ts', "import { createServer } from 'node:http';", /HTTP ends in daemon/],
  ['daemon/notifications/outbox.ts', "import { buildServer } from '../http/server.ts';", /HTTP ends in daemon/],
  ['daemon/hardware/attached-keys.ts', "import type { Bindings } from '../http/bindings.ts';", /HTTP ends in daemon/],
  ['daemon/devices/records.ts', "import type { PersonRecord } from '../people/records.ts';", /the table of subjects/],
  ['daemon/devices/service.ts', "import { open } from '../store/sqlite/open.ts';", /chooses the engine/],
  ['daemon/maintenance/audit.ts', "import { open } from '../store/sqlite/open.ts';", /chooses the engine/],
  ['daemon/devices/service.ts', "import { openStore } from '../start/store-engine.ts';", /composition root/],
  ['daemon/http/routes/documents.ts', "import { HidDriver } from '../../../drivers/driver.ts';", /calls a service/],
  ['daemon/accounts/user-service.ts', "import { startDaemon } from '../start/main.ts';", /composition root/],
  ['daemon/hardware/keys.ts', "import { hidDriver } from '../../drivers/hid/index.ts';", /the Driver interface/],
  [
    'drivers/protocols/ukey/serial.ts',
    "import { open } from '../../hid/handle.ts';",
    /over the connection it receives/,
  ],
  ['daemon/home/home.ts', "import Database from 'better-sqlite3';", /another store must be able/],
  ['daemon/start/main.ts', "import { open } from '../store/postgres/index.ts';", /an engine is left out/],
  [
    'daemon/store/subjects.ts',
    "import type { PostgresSubject } from './postgres/subject.ts';",
    /an engine is left out/,
  ],
  ['daemon/start/file-store.ts', "const { s3 } = await import('../files/s3/index.ts');", /an engine is left out/],
  ['daemon/start/engines.ts', "import { open } from '../store/postgres/index.ts';", /does not load the client/],
  ['daemon/start/engines.ts', "import { s3 } from '../files/s3/index.ts';", /does not load the client/],
  ['daemon/store/sqlite/open.ts', "import pg from 'pg';", /only daemon\/store\/postgres knows/],
  ['daemon/home/home.ts', "const hid = await import('node-hid');", /native USB modules/],
  ['drivers/hid/index.ts', "import { dlopen } from 'node:ffi';", /node:ffi is experimental/],
  ['drivers/pcsc/library.ts', "const { usb } = require('usb/index.js');", /native USB modules/],
  ['drivers/hid/index.ts', "createRequire(import.meta.url || process.argv[1])('pcsc-mini');", /native PC\/SC module/],
  ['src/cli/commands/apps/apps.ts', "import { FormData } from 'undici';", /one transport/],
  ...Object.keys(subjects).map(
    subject => [`daemon/${subject}/a.ts`, "import { run } from '../maintenance/audit.ts';", /left out, alone/] as const,
  ),
  ...['base', 'store', 'requests', 'home', 'background', 'http'].map(
    layer => [`daemon/${layer}/a.ts`, "import { user } from '../accounts/user.ts';", /knows none of them/] as const,
  ),
  ['daemon/webhooks/poster.ts', "import { request } from 'node:https';", /one transport/],
  ['daemon/base/outgoing.ts', "import { Agent } from 'undici';", /does not load undici/],
  ['src/cli/commands/session/config.ts', "const { default: Conf } = await import('conf');", /takes the lock/],
  [
    'src/cli/commands/sign-in/login.ts',
    "const { Entry } = await import('@napi-rs/keyring');",
    /works without a keychain/,
  ],
  [
    'src/cli/framework/pickers/devices.ts',
    "import { openSession } from '../../session/session.ts';",
    /a picker offers values/,
  ],
  [
    'src/cli/framework/context.ts',
    "import { list } from '../commands/devices/list.ts';",
    /what commands share knows none of them/,
  ],
  ['src/fleet/cleanup.ts', "import { readFileSync } from 'node:fs';", /count and plan by the same rules/],
  ['src/enrollment/line/line.ts', "import { readFileSync } from 'node:fs';", /enroll by the same rules/],
  ['src/tables/csv.ts', "import { readFileSync } from 'node:fs';", /one reader of files/],
  ['daemon/base/logger.ts', "import type { FastifyInstance } from 'fastify';", /know Fastify/],
  ['drivers/hid/native.ts', "import hid from 'node-hid';", /loaded when it is used/],
];

const good: readonly (readonly [file: string, source: string])[] = [
  [
    'src/cli/commands/devices/list.ts',
    "import { call } from '../../client/call.ts';\nimport { listDevices } from '../../../contract/devices.ts';",
  ],
  [
    'daemon/devices/service.ts',
    "import type { Store } from '../store/store.ts';\nimport { judge } from './records.ts';",
  ],
  ['daemon/store/sqlite/open.ts', "import Database from 'better-sqlite3';"],
  ['daemon/start/engines.ts', "const { open } = await import('../store/postgres/index.ts');"],
  ['drivers/hid/native.ts', "import type { Device } from 'node-hid';\nconst { HID } = await import('node-hid');"],
  [
    'bin/devmgr.ts',
    "import { run } from '../src/cli/main.ts';\nconst { startDaemon } = await import('../daemon/start/main.ts');",
  ],
  [
    'src/contract/codes.ts',
    "// import 'node:fs'\n/* export * from '../client/call.ts' */\nexport const hint = \"import x from 'node:fs'\";",
  ],
];

describe('imports between folders', () => {
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
    expect(violationsIn('src/cli/main.ts', 'await import(name);')).toHaveLength(1);
    expect(violationsIn('src/cli/main.ts', `await import(\`./\${name}.ts\`);`)).toHaveLength(1);
    expect(violationsIn('src/cli/main.ts', "import x from 'left-pad';", new Set(['commander']))).toHaveLength(1);
  });

  it('reads imports over several lines, and shows on which line they begin', () => {
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
    const root = await mkdtemp(join(tmpdir(), 'devmgr-imports-'));
    folders.push(root);
    for (const [name, text] of Object.entries({ 'package.json': '{}', ...files })) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    const script = join(import.meta.dirname, '../../scripts/import-boundaries.ts');
    return promisify(execFile)(process.execPath, [script, root]).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }) => ({ code, stderr }),
    );
  }

  it('fails on a forbidden import, naming file, line and reason', async () => {
    const { code, stderr } = await check({ 'src/contract/codes.ts': "\nimport { run } from '../cli/main.ts';\n" });
    expect(code).toBe(1);
    expect(stderr).toContain('src/contract/codes.ts:2 must not import ../cli/main.ts');
    expect(stderr).toContain('the contract is data and types');
  });

  it('passes if no rule is broken, and fails if there is nothing to check', async () => {
    expect((await check({ 'src/cli/main.ts': "import { codes } from '../contract/codes.ts';\n" })).code).toBe(0);
    expect((await check({})).code).toBe(1);
  });
});
