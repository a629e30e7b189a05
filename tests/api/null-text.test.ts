/** Any text with U+0000 is 1001, on both engines and before the store sees it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouteShape } from '../../src/contract/define.ts';
import { inputExample } from '../../src/contract/openapi/examples.ts';
import { routes } from '../../src/contract/routes.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { file, needed, type Part, sendForm, uploadPath } from '../support/forms.ts';
import { callerFor } from '../support/holder.ts';
import { rawRequest } from '../support/raw-request.ts';
import { refusedUpgrade } from '../support/stream-client.ts';

let daemon: TestDaemon;
let deviceId: string;
let as: Awaited<ReturnType<typeof callerFor>>;
const device = { deviceType: 'UKEY', serialNumber: 'N-1', manufacturer: 'Acme', model: 'K1' };
beforeAll(async () => {
  daemon = await startTestDaemon();
  as = await callerFor(daemon);
  ({ deviceId } = (await daemon.call('POST', '/api/devices/register', device)).data);
});
afterAll(() => daemon?.stop());

const all = Object.values(routes) as readonly RouteShape[];
const isText = (schema: unknown): boolean => {
  const { type, anyOf } = schema as { type?: string; anyOf?: readonly unknown[] };
  return type === 'string' || (anyOf?.some(isText) ?? false);
};
const pathOf = (shape: RouteShape): string =>
  shape.path
    .replace('{deviceId}', deviceId)
    .replace('{userId}', 'USR-2')
    .replace(/\{\w+\}/, 'X-1');
const namesField = (name: string) => ({
  status: 400,
  code: 1001,
  message: expect.stringMatching(`^${name} contains the character U\\+0000$`),
});
const refused = { status: 400, code: 1001, message: expect.stringContaining('U+0000') };

const bodyFields = all.flatMap(shape =>
  Object.entries(shape.body?.properties ?? {})
    .filter(([, schema]) => isText(schema))
    .map(([name]) => ({ id: shape.id, name, shape })),
);
const queryFields = all.flatMap(shape =>
  Object.keys(shape.query?.properties ?? {})
    // A credential is refused as an invalid credential.
    .filter(name => !(shape.websocket && ['token', 'code'].includes(name)))
    .map(name => ({ id: shape.id, name, shape })),
);
const withParams = all.filter(shape => shape.params);

describe('U+0000 in a request', () => {
  it.each(bodyFields)('is refused in the field $name of $id', async ({ name, shape }) => {
    const body = { ...inputExample(shape), [name]: 'a\0b' };
    expect(await daemon.call(shape.method, pathOf(shape), body, as(shape))).toMatchObject(namesField(name));
  });

  it.each(queryFields)('is refused in the parameter $name of $id', async ({ name, shape }) => {
    const path = `${pathOf(shape)}?${name}=a%00b`;
    expect(await daemon.call(shape.method, path, undefined, as(shape))).toMatchObject(namesField(name));
  });

  it.each(withParams)('is refused in the path of $id', async shape => {
    const body = shape.body ? inputExample(shape) : undefined;
    const path = shape.path.replaceAll(/\{\w+\}/g, 'a%00b');
    const answer = shape.form
      ? await sendForm(daemon, path, [file('a.bin')])
      : await daemon.call(shape.method, path, body, as(shape));
    expect(answer).toMatchObject(refused);
  });

  it.each([
    ['the value of a tag', { ...device, tags: { lot: '\0' } }, 'tags.lot'],
    ['the name of a tag', { ...device, tags: { 'l\0t': 'x' } }, 'a text'],
    ['an unknown field', { ...device, more: [{ deep: ['\0'] }] }, 'more.deep'],
    ['the name of a field', { ...device, '\0': 1 }, 'a text'],
    ['an unknown field whose name cannot be shown', { ...device, '\u001b[2J': '\0' }, 'a text'],
  ])('is refused in %s', async (_what, body, field) => {
    expect(await daemon.call('POST', '/api/devices/register', body)).toMatchObject(namesField(field));
  });

  it('is refused in policies, trust and evidence', async () => {
    const policy = { requiredGrade: 'none', allowedAaguids: ['\0'], leastFirmware: [] };
    expect(await daemon.call('PUT', '/api/policies/proof', policy)).toMatchObject(namesField('allowedAaguids'));
    const claims = { serialNumber: 'N-2', claims: { firmware: '5\0' } };
    expect(await daemon.call('POST', '/api/proofs/AAAA', claims)).toMatchObject(namesField('claims.firmware'));
    expect(await sendForm(daemon, '/api/trust', [['label', '\0'], file('a.pem')])).toMatchObject(refused);
  });

  it.each([
    ['a query without parameters', '/api/health?%00'],
    ['an unknown parameter', '/api/users/me?x=%00'],
    ['the name of a parameter', '/api/users/me?%00=x'],
    ['a path', '/api/devices/DEV-%00'],
    ['the query of a document', '/api/openapi.json?x=%00'],
    ['the query of a page', '/api/swagger-ui.html?x=%00'],
  ])('is refused in %s', async (_what, path) => {
    expect(await daemon.call('GET', path)).toMatchObject(refused);
  });

  it('is refused in a header', async () => {
    for (const name of ['X-Any', 'Idempotency-Key', 'Authorization', 'If-Match']) {
      const head = `GET /api/users/me HTTP/1.1\r\nHost: localhost\r\n${name}: a\0b\r\n\r\n`;
      expect(await rawRequest(daemon.url, head)).toMatch(/^HTTP\/1\.1 400 .*"code":1001/s);
    }
  });

  it('is refused in the query of an upgrade', async () => {
    const asked = (query: string) => refusedUpgrade(daemon.url, `/api/ws/notifications?${query}`);
    for (const query of ['types=%00', 'deviceId=%00', 'since=%00', 'x=%00', '%00'])
      expect(await asked(`token=${daemon.adminToken}&${query}`)).toMatchObject({ status: 400, code: 1001 });
    // A credential is refused as an invalid credential.
    for (const query of ['code=%00', 'token=%00'])
      expect(await asked(query)).toMatchObject({ status: 401, code: 1004 });
  });

  it.each<[string, readonly Part[]]>([
    ['a field', [['versionName', 'a\0b'], ...needed('ANDROID', '1.0.0'), file('a.apk')]],
    ['a field after the file', [...needed('ANDROID', '1.0.0'), file('a.apk'), ['changelog', '\0']]],
    ['an unknown field', [['x', '\0'], ...needed('ANDROID', '1.0.0'), file('a.apk')]],
    ['the name of a field', [['x\0', 'y'], ...needed('ANDROID', '1.0.0'), file('a.apk')]],
    ['the name of the file', [...needed('ANDROID', '1.0.0'), file('a\0.apk')]],
    ['the encoded name of the file', [...needed('ANDROID', '1.0.0'), [`file"; filename*=UTF-8''a%00.apk; x="`, 'x']]],
    [
      'the type of the file',
      [...needed('ANDROID', '1.0.0'), ['file', { fileName: 'a.apk', content: 'x', headers: ['Content-Type: a/\0b'] }]],
    ],
  ])('is refused in %s of a form, and nothing is stored', async (_what, parts) => {
    expect(await sendForm(daemon, uploadPath, parts)).toMatchObject({ status: 400, code: 1001 });
    expect((await daemon.call('GET', '/api/app-versions/list')).data.list).toEqual([]);
  });

  it('is part of a file like any other byte', async () => {
    const stored = await sendForm(daemon, uploadPath, [...needed('ANDROID', '9.0.0'), file('a.apk', '\0\0')]);
    expect(stored).toMatchObject({ code: 200, data: { fileSize: 2 } });
  });

  it('does not change the order of the checks', async () => {
    const body = { reason: '\0' };
    const { token } = await daemon.user('null-viewer', 'VIEWER');
    expect((await daemon.call('POST', '/api/no/%00', body)).code).toBe(404);
    expect((await daemon.call('POST', '/api/devices/%00/lock', body, { token: null })).code).toBe(1004);
    expect((await daemon.call('POST', '/api/devices/%00/lock', body, { token })).code).toBe(2007);
    expect((await daemon.call('POST', '/api/devices/DEV-999/lock', body)).code).toBe(1001);
    const login = { username: 'ad\0min', password: adminPassword };
    expect(await daemon.call('POST', '/api/auth/login', login, { token: null })).toMatchObject(namesField('username'));
  });
});

describe('an item of a batch with U+0000', () => {
  it.each(['serialNumber', 'manufacturer', 'model', 'firmwareVersion', 'proofId', 'unknown'])(
    'fails alone at registration: %s',
    async field => {
      const item = (serialNumber: string) => ({ ...device, serialNumber });
      const devices = [item(`${field}-1`), { ...item(`${field}-2`), [field]: 'a\0b' }, item(`${field}-3`)];
      const { code, data } = await daemon.call('POST', '/api/devices/batch-register', { devices });
      expect(code).toBe(200);
      expect(data.results.map((one: { status: string }) => one.status)).toEqual(['success', 'failed', 'success']);
      expect(data.results[1]).toMatchObject({ code: 1001, message: `${field} contains the character U+0000` });
    },
  );

  it.each(['serialNumber', 'deviceId', 'reason', 'note', 'unknown'])(
    'fails alone in a batch of changes: %s',
    async field => {
      const { data: one } = await daemon.call('POST', '/api/devices/register', {
        ...device,
        serialNumber: `U-${field}`,
      });
      const { activationCode } = one;
      await daemon.call('POST', '/api/devices/activate', { deviceId: one.deviceId, activationCode, userId: 'u' });
      const named = field === 'deviceId' ? {} : { serialNumber: `U-${field}` };
      const items = [{ ...named, reason: 'r', [field]: 'a\0b' }, '\0', { deviceId: one.deviceId, reason: 'r' }];
      const { code, data } = await daemon.call('POST', '/api/devices/batch-update', { operation: 'LOCK', items });
      expect(code).toBe(200);
      expect(data.results.map((result: { code: number }) => result.code)).toEqual([1001, 1001, 200]);
      expect(data.results[0].message).toBe(`${field} contains the character U+0000`);
    },
  );

  it('does not pass in a large batch either', async () => {
    const devices: object[] = Array.from({ length: 5000 }, (_, i) => ({ ...device, serialNumber: `L-${i}` }));
    devices[4321] = { ...devices[4321], model: '\0' };
    const { data } = await daemon.call('POST', '/api/devices/batch-register', { devices });
    expect([data.success, data.failed, data.results[4321].code]).toEqual([4999, 1, 1001]);
    const beside = await daemon.call('POST', '/api/devices/batch-register', { devices, note: '\0' });
    expect(beside).toMatchObject(namesField('note'));
  });
});
