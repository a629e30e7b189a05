import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rateLimits } from '../../src/contract/limits.ts';
import { buildPostman } from '../../src/contract/postman.ts';
import { routes } from '../../src/contract/routes.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

interface Folder {
  readonly name: string;
  readonly item: readonly Item[];
}
interface Item {
  readonly name: string;
  readonly event: readonly { readonly listen: string; readonly script: { readonly exec: readonly string[] } }[];
  readonly request: { readonly method: string; readonly url: { readonly raw: string } };
}
interface Collection {
  readonly info: { readonly schema: string };
  readonly item: readonly Folder[];
  readonly variable: readonly { readonly key: string; readonly value: string }[];
}

interface Report {
  readonly stats: { readonly requests: { readonly total: number } };
  readonly failures: readonly { readonly error: Error; readonly source: { readonly name: string } }[];
}

const collection = buildPostman('0.0.0') as unknown as Collection;
const items = collection.item.flatMap(folder => folder.item);

describe('the Postman collection', () => {
  const address = ({ request }: Item) =>
    `${request.method} ${request.url.raw.replace('{{base_url}}', '').split('?')[0]}`;

  it('has format 2.1 and the variables base_url and token', () => {
    expect(collection.info.schema).toContain('/v2.1.0/');
    expect(collection.variable.map(({ key }) => key)).toEqual(expect.arrayContaining(['base_url', 'token']));
  });

  it('has every operation once except the stream, which the format does not support', () => {
    const expected = Object.values(routes)
      .filter(({ id }) => id !== routes.streamNotifications.id)
      .map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, '{{$1}}')}`);
    expect(items.map(address).sort()).toEqual(expected.sort());
  });

  it('starts with the login, whose script stores the token', () => {
    expect(address(items[0]!)).toBe('POST /api/auth/login');
    const script = items[0]!.event.find(({ listen }) => listen === 'test')?.script.exec.join('\n');
    expect(script).toContain("save('token', envelope.data.token)");
  });

  it('checks every response', () => {
    for (const item of items)
      expect(
        item.event.some(({ listen }) => listen === 'test'),
        item.name,
      ).toBe(true);
  });
});

describe('newman with the Postman collection', () => {
  let daemon: TestDaemon;
  let folder: string;
  beforeAll(async () => {
    // With the default limits: a run must stay within them.
    daemon = await startTestDaemon({ limits: rateLimits });
    folder = mkdtempSync(join(tmpdir(), 'devmgr-postman-'));
    const response = await fetch(`${daemon.url}/api/postman.json`);
    writeFileSync(join(folder, 'collection.json'), await response.text());
  });
  afterAll(async () => {
    await daemon?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const newman = async (...options: string[]) => {
    const report = join(folder, 'report.json');
    const program = join(root, 'node_modules/newman/bin/newman.js');
    const reporters = ['--reporters', 'json', '--reporter-json-export', report];
    await run(process.execPath, [program, 'run', 'collection.json', ...reporters, ...options], { cwd: folder }).catch(
      () => undefined,
    );
    const { run: result } = JSON.parse(await readFile(report, 'utf8'));
    const { stats, failures } = result as Report;
    return {
      requests: stats.requests.total,
      failures: failures.map(({ error, source }) => `${source.name}: ${error.message}`),
    };
  };

  it('passes on a new daemon and sends each request', async () => {
    expect(await newman('--env-var', `password=${adminPassword}`)).toEqual({ failures: [], requests: items.length });
  });

  it('passes again with base_url and token as variables of an environment', async () => {
    // The windows of the first run would count.
    await daemon.restart();
    const variables = { password: adminPassword, base_url: daemon.url, token: '' };
    const options = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
    expect(await newman(...options)).toEqual({ failures: [], requests: items.length });
  });

  it('sends the policy of the registry back as it is', async () => {
    await daemon.restart();
    const policy = {
      requiredGrade: 'none',
      allowedAaguids: [],
      leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }],
    };
    expect(await daemon.call('PUT', '/api/policies/proof', policy)).toMatchObject({ code: 200 });
    // The policy refuses registrations without a proof: the other requests would fail.
    const base = `base_url=${daemon.url}`;
    const sent = [routes.login, routes.showProofPolicy, routes.setProofPolicy].flatMap(({ summary }) => [
      '--folder',
      summary,
    ]);
    expect(await newman('--env-var', base, '--env-var', `password=${adminPassword}`, ...sent)).toEqual({
      failures: [],
      requests: 3,
    });
    expect((await daemon.call('GET', '/api/policies/proof')).data).toEqual(policy);
  });
});
