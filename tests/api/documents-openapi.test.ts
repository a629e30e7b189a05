import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorsOf, type RouteShape } from '../../src/contract/define.ts';
import { buildOpenapi } from '../../src/contract/openapi.ts';
import { routes } from '../../src/contract/routes.ts';
import { validateAnswer, validateFrame } from '../support/openapi.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const tools = join(root, 'tests/tools/node_modules');
const shapes: [string, RouteShape][] = Object.entries(routes);

const compilerOptions = {
  noEmit: true,
  strict: true,
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: [],
};

interface Operation {
  readonly tags: string[];
  readonly security: object[];
  readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> };
  readonly responses: Record<string, { readonly $ref?: string; readonly content?: Content }>;
}
type Content = Record<string, { readonly example?: unknown; readonly examples?: Record<string, Example> }>;
interface Example {
  readonly summary: string;
  readonly value: { readonly code: number; readonly message: string };
}

const document = JSON.parse(JSON.stringify(buildOpenapi('0.0.0')));
const operationOf = ({ method, path }: RouteShape): Operation => document.paths[path][method.toLowerCase()];
const responsesOf = (operation: Operation) =>
  Object.entries(operation.responses).map(([status, response]) => ({
    status: Number(status),
    content: (response.$ref ? document.components.responses[response.$ref.split('/').at(-1)!] : response).content as
      | Content
      | undefined,
  }));

describe('the OpenAPI document', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'devmgr-openapi-'));
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('describes exactly the operations of the contract', () => {
    const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map(method => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(shapes.map(([, { method, path }]) => `${method} ${path}`).sort());
  });

  it.each(shapes)('%s lists each of its business codes with an example under the right status', (_, shape) => {
    const listed = responsesOf(operationOf(shape)).flatMap(({ status, content }) =>
      Object.values(content?.['application/json']?.examples ?? {}).map(example => ({ status, ...example.value })),
    );
    expect(listed.map(({ code }) => code)).toEqual(expect.arrayContaining(errorsOf(shape)));
    for (const { status, ...body } of listed)
      expect(validateAnswer(shape.method, shape.path, status, body)).toEqual([]);
    const wrongPassword = listed.find(({ code }) => code === 1003);
    if (wrongPassword) expect(wrongPassword.status).toBe(shape.id === 'login' ? 401 : 403);
  });

  it.each(shapes.filter(([, { body, form }]) => body ?? form))('%s has an example of its request', (_, shape) => {
    const [content] = Object.values(operationOf(shape).requestBody?.content ?? {});
    expect(Object.keys(content?.example ?? {})).not.toHaveLength(0);
  });

  it.each(shapes.filter(([, { raw, websocket }]) => !raw && !websocket))(
    '%s has an example of its success that its own schema accepts',
    (_, shape) => {
      const example = responsesOf(operationOf(shape)).find(({ status }) => status === 200)?.content?.[
        'application/json'
      ]?.example;
      expect(example).toMatchObject({ code: 200, message: 'success' });
      expect(validateAnswer(shape.method, shape.path, 200, example)).toEqual([]);
      // A value for each field: src/contract/openapi/examples.ts writes the name of a field for which it has none.
      expect(JSON.stringify(example)).not.toMatch(/"(\w+)":\[?"\1"/);
    },
  );

  it('names the body and the data of each operation, and each schema that several of them share', () => {
    const inline = shapes.filter(([, { path, method }]) => {
      const text = JSON.stringify(document.paths[path][method.toLowerCase()]);
      return /"properties":\{"(?!code|list|file)/.test(text);
    });
    expect(inline.map(([id]) => id)).toEqual([]);
    const named = (id: string) => new RegExp(`^${id[0]!.toUpperCase()}${id.slice(1)}(Request|Result)$`);
    const borrowed = shapes.flatMap(([id, shape]) =>
      [...JSON.stringify(operationOf(shape)).matchAll(/schemas\/(\w+(?:Request|Result))"/g)]
        .map(([, name]) => name!)
        .filter(name => !named(id).test(name)),
    );
    expect(borrowed, 'a name in src/contract/openapi/names.ts for what they share').toEqual([]);
    const whole = JSON.stringify(document);
    const names = Object.keys(document.components.schemas);
    expect(names).toEqual(
      expect.arrayContaining(['Person', 'Receipt', 'Provider', 'Credential', 'ServiceToken', 'Webhook']),
    );
    expect(names.filter(name => !whole.includes(`schemas/${name}"`))).toEqual([]);
  });

  it('describes each tag that an operation has', () => {
    const tags = document.tags.map(({ name }: { name: string }) => name);
    const used = shapes.flatMap(([, shape]) => operationOf(shape).tags);
    expect(tags.sort()).toEqual([...new Set(used)].sort());
  });

  it('has the tag extension on exactly the additions to the published interface', () => {
    for (const [, shape] of shapes)
      expect(operationOf(shape).tags, shape.id).toEqual(shape.extension ? [shape.tag, 'extension'] : [shape.tag]);
  });

  it('requires a token for every operation that is not open', () => {
    const open = shapes
      .filter(([, shape]) => {
        const { security } = operationOf(shape);
        return security.length === 0 || security.some(scheme => Object.keys(scheme).length === 0);
      })
      .map(([, { path }]) => path);
    expect(open.sort()).toEqual([
      '/api/auth/exchange',
      '/api/auth/login',
      // The answer of the provider to a browser, and its result for a terminal, which proves that it asked.
      '/api/auth/sso/callback',
      '/api/auth/sso/callback',
      '/api/auth/sso/device',
      '/api/auth/sso/device/poll',
      '/api/auth/sso/logout',
      '/api/auth/sso/start',
      '/api/auth/sso/terminal',
      '/api/auth/terminal',
      '/api/auth/terminal/token',
      '/api/auth/webauthn/login',
      '/api/auth/webauthn/options',
      '/api/health',
      '/api/openapi.json',
      '/api/openapi.yaml',
      '/api/postman.json',
      '/api/sso',
      '/api/swagger-ui.html',
      '/metrics',
    ]);
  });

  it('passes the linter with strict rules', { timeout: 120_000 }, async () => {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
    const call = [redocly, 'lint', 'openapi.json', '--extends', 'recommended-strict', '--format', 'json'];
    const { stdout } = await run(process.execPath, call, { cwd: folder, env }).catch(
      (failed: { stdout: string }) => failed,
    );
    expect(JSON.parse(stdout).problems).toEqual([]);
  });

  it.skipIf(!existsSync(tools) && !process.env.CI)(
    'yields a typed client that compiles and rejects wrong calls (needs: node tests/tools/setup.mjs)',
    { timeout: 120_000 },
    async () => {
      copyFileSync(join(import.meta.dirname, 'typed-client.ts.txt'), join(folder, 'client.ts'));
      symlinkSync(tools, join(folder, 'node_modules'));
      const generator = join(tools, 'openapi-typescript/bin/cli.js');
      await run(process.execPath, [generator, 'openapi.json', '-o', 'schema.d.ts'], { cwd: folder });
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.ts'] }));
      const compiler = [join(tools, 'typescript/bin/tsc'), '-p', folder];
      const { stdout } = await run(process.execPath, compiler, { cwd: folder }).catch(
        (failed: { stdout: string }) => failed,
      );
      expect(stdout).toBe('');
    },
  );
});

describe('the check of responses', () => {
  const envelope = (code: number, data: unknown = null) => ({ code, message: 'in words', data });

  it('accepts a documented error', () => {
    expect(validateAnswer('POST', '/api/devices/DEV-1/lock', 400, envelope(2004))).toEqual([]);
  });
  it.each([
    ['a business code the operation does not have', 'POST', '/api/devices/DEV-1/unlock', 400, envelope(2004)],
    ['a business code under the wrong status', 'POST', '/api/devices/DEV-1/lock', 404, envelope(2004)],
    ['a status the operation does not have', 'GET', '/api/devices/list', 201, envelope(200, {})],
    ['data with an error', 'GET', '/api/devices/DEV-1', 404, envelope(2001, {})],
    ['a response without a message', 'GET', '/api/devices/DEV-1', 404, { code: 2001, data: null }],
    ['a response that lacks a field', 'POST', '/api/auth/refresh', 200, envelope(200, { token: 'x' })],
    ['a response that is not an envelope', 'GET', '/api/devices/DEV-1', 200, 'hello'],
    ['a success of an unknown operation', 'GET', '/api/nothing', 200, envelope(200, {})],
  ])('finds %s', (_, method, path, status, body) => {
    expect(validateAnswer(method, path, status, body)).not.toEqual([]);
  });
  it('accepts 404 for an unknown path', () => {
    expect(validateAnswer('GET', '/api/nothing', 404, envelope(404))).toEqual([]);
  });
  it('checks a frame against the schema of its type', () => {
    const frame = { id: 7, type: 'DEVICE_UNLOCKED', timestamp: '2026-03-01T08:30:00.000Z' };
    expect(validateFrame({ ...frame, data: { deviceId: 'DEV-1', deviceType: 'UKEY' } } as never)).toEqual([]);
    expect(validateFrame({ ...frame, data: {} } as never)).not.toEqual([]);
    expect(validateFrame({ ...frame, type: 'DEVICE_EATEN' })).not.toEqual([]);
  });
});
