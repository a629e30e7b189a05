/** The errors in the OpenAPI document are those of the program: each example that a new registry can give is compared with its answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Code, codes, type ErrorCode } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { inputExample } from '../../src/contract/openapi/examples.ts';
import { buildOpenapi } from '../../src/contract/openapi.ts';
import { routes } from '../../src/contract/routes.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

const document = JSON.parse(JSON.stringify(buildOpenapi('0.0.0')));
const shapes = Object.values<RouteShape>(routes).filter(({ raw, websocket, file }) => !raw && !websocket && !file);
// Operations that wait for another system, or that would end the sessions of this test, are skipped.
const skipped = [
  'logoutSso',
  'startSso',
  'takeSso',
  'pollSsoDevice',
  'startSsoDevice',
  'showSsoTerminal',
  'logoutUser',
];

let daemon: TestDaemon;
let viewer: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  // USR-2, which examples change and log out.
  await daemon.user('changed', 'DEALER');
  viewer = (await daemon.user('watcher', 'VIEWER')).token;
});
afterAll(() => daemon.stop());

type Caller = 'anonymous' | 'viewer' | 'admin';
const calls: (readonly [id: string, caller: Caller, kind: 'empty' | 'example'])[] = shapes
  .filter(({ id }) => !skipped.includes(id))
  .flatMap(({ id, body, access }) => [
    ...(access === 'public' ? [] : ([[id, 'anonymous', 'example']] as const)),
    ...(Array.isArray(access) ? ([[id, 'viewer', 'example']] as const) : []),
    ...(body ? ([[id, 'admin', 'empty']] as const) : []),
    ...(Array.isArray(access) ? ([[id, 'admin', 'example']] as const) : []),
  ]);

/** The answer to a request, and the example for its code; null if it is a success. */
async function compared(id: string, caller: Caller, kind: 'empty' | 'example') {
  const shape = routes[id as keyof typeof routes] as RouteShape;
  const path = shape.path.replace(/\{(\w+)\}/g, (_, name: string) => shape.example?.params?.[name] ?? 'none');
  const body = shape.body ? (kind === 'empty' ? {} : inputExample(shape)) : undefined;
  const token = { anonymous: null, viewer, admin: daemon.adminToken }[caller];
  const { status, code, message, headers, ...rest } = await daemon.call(shape.method, path, body, { token });
  if (code === 200) return null;
  const described = document.paths[shape.path][shape.method.toLowerCase()].responses[status];
  const response = described.$ref ? document.components.responses[described.$ref.split('/').at(-1)] : described;
  const example = response.content['application/json'].examples[codes[code as ErrorCode].name].value;
  const { details = null } = rest as { details?: object };
  // What a proxy between can see too, and the header of a version, which only a change of a device has.
  const always = Object.keys(response.headers).filter(
    name => !/^(Idempotent-Replay|ETag|Retry-After|X-RateLimit-.*)$/.test(name),
  );
  return {
    code,
    real: {
      code,
      message,
      details,
      lacking: always.filter(name => headers.get(name) === null && name !== 'X-Devmgr-Node'),
    },
    documented: { code, message: example.message, details: example.details ?? null, lacking: [] },
  };
}

describe('the example of an error', () => {
  const seen = new Set<string>();
  const isCompared = (id: string, code: number, caller: Caller, kind: string) => {
    // A refusal of values depends on them: only that of an empty body is an example. A role is refused as VIEWER.
    if (code === Code.parameterError && kind !== 'empty') return false;
    if (code === Code.noPermission && caller !== 'viewer') return false;
    const isFirst = !seen.has(`${id} ${code}`);
    seen.add(`${id} ${code}`);
    return isFirst;
  };
  const check = async (id: string, caller: Caller, kind: 'empty' | 'example') => {
    const found = await compared(id, caller, kind);
    if (found && isCompared(id, found.code, caller, kind)) expect(found.real, id).toEqual(found.documented);
  };

  it('that names a thing in the path is what an empty registry returns', async () => {
    for (const [id, caller, kind] of calls)
      if (caller === 'admin' && kind === 'example' && routes[id as keyof typeof routes].path.includes('{'))
        await check(id, caller, kind);
    expect(seen.size).toBeGreaterThan(20);
  });
  it.each(calls)('of %s is what %s gets (%s)', check);
  it('of a serial number that exists is what a second registration gets', async () => {
    await check('registerDevice', 'admin', 'example');
    expect(seen).toContain(`registerDevice ${Code.serialDuplicated}`);
  });
});
