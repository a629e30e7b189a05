/** When each business code is given, and with which HTTP status. */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeFiles } from '../../src/api/local.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import {
  activation,
  backUp,
  data,
  deviceIn,
  form,
  freshSerial,
  packageForm,
  register,
  registration,
  upload,
} from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const post = (path: string, body?: unknown, token?: string | null) =>
  daemon.call('POST', path, body, token === undefined ? {} : { token });
const get = (path: string, token?: string | null) =>
  daemon.call('GET', path, undefined, token === undefined ? {} : { token });

describe('200', () => {
  it('is the code and the status of every success, of creating too, with the message success', async () => {
    const answer = await post('/api/devices/register', registration());
    expect(answer).toMatchObject({ status: 200, code: 200, message: 'success' });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('is that of a batch in which items fail, with a message of its own', async () => {
    const good = registration();
    const answer = await post('/api/devices/batch-register', {
      devices: [good, good, 7, { ...registration(), model: '' }],
    });
    expect(answer).toMatchObject({ status: 200, code: 200, message: 'batch completed with partial failure' });
    expect(answer.data).toMatchObject({ total: 4, success: 1, failed: 3 });
    const [first, ...failed] = answer.data.results;
    expect(first).toMatchObject({
      status: 'success',
      serialNumber: good.serialNumber,
      deviceId: expect.stringMatching(/^DEV-\d+$/),
    });
    for (const item of failed) {
      expect(item).toMatchObject({ status: 'failed', message: expect.stringMatching(/./) });
      expect(item).not.toHaveProperty('deviceId');
      expect(item).not.toHaveProperty('activationCode');
    }
    expect(failed[0].message).toContain('already exists');
    expect(failed[2].message).toContain('model');
  });
});

describe('1001', () => {
  it.each(['deviceType', 'serialNumber', 'manufacturer', 'model'])(
    'names a required field that is missing: %s',
    async field => {
      const { [field as 'model']: _, ...body } = registration();
      expect(await post('/api/devices/register', body)).toMatchObject({
        status: 400,
        code: 1001,
        message: `${field} is required`,
      });
    },
  );

  it.each([
    ['a number for a text', { model: 7 }, 'model'],
    ['an unknown device type', { deviceType: 'CARD' }, 'deviceType'],
    ['a device type in small letters', { deviceType: 'ukey' }, 'deviceType'],
    ['a text that is too long', { manufacturer: 'x'.repeat(201) }, 'manufacturer'],
    ['a serial number with a space inside', { serialNumber: 'A B' }, 'serialNumber'],
    ['a text of nothing but spaces', { model: '   ' }, 'model'],
    ['a control character', { model: 'K9\u0007' }, 'model'],
    ['a character that turns the direction of writing', { model: 'K9\u202e' }, 'model'],
    ['an array for a text', { serialNumber: ['A'] }, 'serialNumber'],
  ])('names the field: %s', async (_, wrong, field) => {
    const answer = await post('/api/devices/register', registration(wrong));
    expect(answer).toMatchObject({ status: 400, code: 1001 });
    expect(answer.message).toContain(field);
  });

  it.each([
    ['malformed JSON', '{"username": ', 'application/json'],
    ['JSON that is no object', '[1]', 'application/json'],
    ['JSON that is null', 'null', 'application/json'],
    ['__proto__ in the body', '{"username":"a","password":"b","__proto__":{}}', 'application/json'],
    ['__proto__ deep in the body', '{"username":"a","password":"b","x":[{"__proto__":1}]}', 'application/json'],
    ['another content type', '<login/>', 'text/xml'],
    ['a form in place of JSON', 'username=a&password=b', 'application/x-www-form-urlencoded'],
    ['a body that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'application/json'],
    ['a body over 1 MiB', JSON.stringify({ username: 'a', password: 'x'.repeat(1024 * 1024) }), 'application/json'],
  ])('is the answer to %s', async (_, raw, type) => {
    const options = { token: null, raw, headers: { 'content-type': type } };
    expect(await daemon.call('POST', '/api/auth/login', undefined, options)).toMatchObject({ status: 400, code: 1001 });
  });

  it.each([
    'page=0',
    'page=x',
    'page=1.5',
    'size=0',
    'size=101',
    'pageSize=101',
    'sortBy=colour',
    'sortOrder=up',
    'status=GONE',
    'deviceType=CARD',
  ])('names the query parameter: %s', async query => {
    const answer = await get(`/api/devices/list?${query}`);
    expect(answer).toMatchObject({ status: 400, code: 1001 });
    expect(answer.message).toContain(query.split('=')[0]);
  });

  it.each(['deviceType', 'serialNumber', 'manufacturer', 'model', 'status'])(
    'is the answer to a change of what cannot be changed: %s',
    async field => {
      const { deviceId } = await register(daemon);
      for (const body of [{ [field]: 'SIMKEY' }, { [field]: 'SIMKEY', note: 'a note' }]) {
        const answer = await daemon.call('PUT', `/api/devices/${deviceId}`, body);
        expect(answer).toMatchObject({ status: 400, code: 1001 });
        expect(answer.message).toContain(field);
      }
      expect(data(await get(`/api/devices/${deviceId}`)).note).toBeNull();
    },
  );

  it('is not the answer to an update that repeats what cannot be changed', async () => {
    const body = registration();
    const { deviceId } = data(await post('/api/devices/register', body));
    const answer = await daemon.call('PUT', `/api/devices/${deviceId}`, {
      ...body,
      status: 'INACTIVE',
      note: 'a note',
    });
    expect(answer).toMatchObject({ code: 200, data: { note: 'a note' } });
  });

  it('is the answer to an update with nothing to update', async () => {
    const { deviceId } = await register(daemon);
    expect(await daemon.call('PUT', `/api/devices/${deviceId}`, {})).toMatchObject({ code: 1001 });
  });

  it('is the answer to a username that exists, and to taking away the last enabled ADMIN', async () => {
    const user = { username: 'twice', password: adminPassword, role: 'VIEWER' };
    data(await post('/api/users', user));
    expect(await post('/api/users', user)).toMatchObject({ code: 1001, message: expect.stringContaining('username') });
    for (const body of [{ disabled: true }, { role: 'DEALER' }])
      expect(await daemon.call('PUT', '/api/users/USR-1', body)).toMatchObject({ code: 1001 });
  });

  it('is the answer to what is no HTTP, in the envelope all the same', async () => {
    const answer = await rawRequest('GARBAGE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/^x-request-id: \S/im);
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ code: 1001, data: null });
  });

  it('is not the answer to unknown fields of a body', async () => {
    expect(await post('/api/devices/register', registration({ colour: 'blue' }))).toMatchObject({ code: 200 });
  });
});

describe('1002', () => {
  it('is 401: no such user', async () => {
    const body = { username: 'nobody', password: adminPassword };
    expect(await post('/api/auth/login', body, null)).toMatchObject({ status: 401, code: 1002 });
  });

  it('is the answer to a disabled user, whatever the password', async () => {
    const { id } = await daemon.user('disabled-1', 'VIEWER');
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    for (const password of [adminPassword, 'wrong one'])
      expect(await post('/api/auth/login', { username: 'disabled-1', password }, null)).toMatchObject({ code: 1002 });
  });
});

describe('1003', () => {
  it('is 401 at login', async () => {
    const body = { username: 'admin', password: 'wrong one' };
    expect(await post('/api/auth/login', body, null)).toMatchObject({ status: 401, code: 1003 });
  });

  it('is 403 elsewhere, so that a client stays logged in: confirmPassword, oldPassword', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const deactivation = { reason: 'worn out', confirmPassword: 'wrong one' };
    expect(await post(`/api/devices/${deviceId}/deactivate`, deactivation)).toMatchObject({ status: 403, code: 1003 });
    const change = { password: 'another password', oldPassword: 'wrong one' };
    expect(await post('/api/users/USR-1/password', change)).toMatchObject({ status: 403, code: 1003 });
    expect(data(await get(`/api/devices/${deviceId}`)).status).toBe('ACTIVE');
  });
});

describe('1004', () => {
  const listed = (token: string | null) => get('/api/devices/list', token);

  it('is 401: no token, or another scheme', async () => {
    expect(await listed(null)).toMatchObject({ status: 401, code: 1004 });
    const headers = { authorization: 'Basic YWRtaW46YWRtaW4=' };
    expect(await daemon.call('GET', '/api/devices/list', undefined, { token: null, headers })).toMatchObject({
      code: 1004,
    });
  });

  it('is the answer to a token signed by somebody else, unsigned, or changed by one character', async () => {
    const [head, body, signature] = daemon.adminToken.split('.') as [string, string, string];
    const forged = createHmac('sha256', 'guessed').update(`${head}.${body}`).digest('base64url');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const longer = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url');
    for (const token of [`${head}.${body}.${forged}`, `${none}.${body}.`, `${head}.${longer}.${signature}`])
      expect(await listed(token)).toMatchObject({ status: 401, code: 1004 });
  });

  it('is the answer once the user has been disabled, and after enabling too', async () => {
    const { id, token } = await daemon.user('disabled-2', 'VIEWER');
    expect(await listed(token)).toMatchObject({ code: 200 });
    data(await daemon.call('PUT', `/api/users/${id}`, { disabled: true }));
    expect(await listed(token)).toMatchObject({ status: 401, code: 1004 });
  });

  it('is the answer to every earlier token once the password has been changed, and not to later ones', async () => {
    const { id, token } = await daemon.user('changed', 'VIEWER');
    const refreshed = data(await post('/api/auth/refresh', undefined, token)).token;
    data(await post(`/api/users/${id}/password`, { password: 'another password' }));
    for (const earlier of [token, refreshed]) expect(await listed(earlier)).toMatchObject({ code: 1004 });
    expect(await listed(await daemon.login('changed', 'another password'))).toMatchObject({ code: 200 });
  });

  it('comes before 2007, 1001 and 2001', async () => {
    expect(await post('/api/devices/DEV-999999/lock', { reason: 7 }, null)).toMatchObject({ code: 1004 });
  });
});

describe('2001', () => {
  it.each(['DEV-999999', 'DEV-0', 'DEV-01', 'dev-1', 'DEV-', 'DEV-1x', 'nothing', 'DEV-99999999999999999999'])(
    'is 404: there is no device %s',
    async deviceId => {
      expect(await get(`/api/devices/${deviceId}`)).toMatchObject({ status: 404, code: 2001 });
      const body = { deviceId, activationCode: 'AAAA-AAAA-AAAA-AAAA', userId: 'alice' };
      expect(await post('/api/devices/activate', body)).toMatchObject({ status: 404, code: 2001 });
    },
  );
  it('comes after 1001', async () => {
    expect(await post('/api/devices/DEV-999999/lock', {})).toMatchObject({ code: 1001, message: 'reason is required' });
  });
});

describe('2003', () => {
  it.each([
    ['wrong', 'AAAA-AAAA-AAAA-AAAA'],
    ['malformed', 'not a code'],
    ['not ASCII', 'ÄÄÄÄ-ÄÄÄÄ-ÄÄÄÄ-ÄÄÄÄ'],
  ])('is the answer to an activation code that is %s', async (_, activationCode) => {
    const { deviceId } = await register(daemon);
    const answer = await post('/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    expect(answer).toMatchObject({ status: 400, code: 2003 });
  });

  it('is the answer to the code of another device', async () => {
    const [one, other] = [await register(daemon), await register(daemon)];
    const body = { ...activation(one), activationCode: other.activationCode };
    expect(await post('/api/devices/activate', body)).toMatchObject({ code: 2003 });
  });

  it('is not the answer to the right code in small letters with spaces around it', async () => {
    const device = await register(daemon);
    const activationCode = ` ${device.activationCode.toLowerCase()} `;
    expect(await post('/api/devices/activate', { ...activation(device), activationCode })).toMatchObject({ code: 200 });
  });

  it('comes after the state: 2002 whatever the code', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const body = { ...activation(device), activationCode: 'wrong' };
    expect(await post('/api/devices/activate', body)).toMatchObject({ status: 400, code: 2002 });
  });
});

describe('2006', () => {
  it('is 400: the message tells that the serial already exists, which device has it and in which state', async () => {
    const { deviceId, serialNumber } = await deviceIn('LOCKED', daemon);
    const answer = await post('/api/devices/register', registration({ serialNumber }));
    expect(answer).toMatchObject({ status: 400, code: 2006, data: null });
    expect(answer.message).toContain('already exists');
    expect(answer.message).toContain(deviceId);
    expect(answer.message).toContain('LOCKED');
  });

  it('is not the answer to a serial number that differs in case alone', async () => {
    const serialNumber = freshSerial('case');
    data(await post('/api/devices/register', registration({ serialNumber })));
    const upper = registration({ serialNumber: serialNumber.toUpperCase() });
    expect(await post('/api/devices/register', upper)).toMatchObject({ code: 200 });
  });

  it('is the answer to the same serial number with spaces around it', async () => {
    const { serialNumber } = await register(daemon);
    const padded = registration({ serialNumber: ` ${serialNumber}\t` });
    expect(await post('/api/devices/register', padded)).toMatchObject({ code: 2006 });
  });
});

describe('2007', () => {
  it('is 403, comes before 1001 and 2001, and after the limit', async () => {
    const { token } = await daemon.user('looker', 'VIEWER');
    const answer = await post('/api/devices/DEV-999999/lock', {}, token);
    expect(answer).toMatchObject({ status: 403, code: 2007, data: null });
  });

  it('is the answer to a page of another site, and to a name that was bound to this machine', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await daemon.call('GET', '/api/devices/list', undefined, { headers })).toMatchObject({
      status: 403,
      code: 2007,
    });
    expect(await rawRequest('GET /api/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403 /,
    );
  });
});

describe('3001', () => {
  it.each(['BKP-999999', 'BKP-0', 'nothing'])('is 404: there is no backup %s', async backupId => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const path = `/api/devices/${deviceId}/backups/${backupId}`;
    expect(await post(`${path}/restore`)).toMatchObject({ status: 404, code: 3001 });
    expect(await get(`${path}/download`)).toMatchObject({ status: 404, code: 3001 });
  });

  it('is the answer to the backup of another device', async () => {
    const [one, other] = [await deviceIn('ACTIVE', daemon), await deviceIn('ACTIVE', daemon)];
    const { backupId } = data(await backUp(daemon, one.deviceId));
    expect(await post(`/api/devices/${other.deviceId}/backups/${backupId}/restore`)).toMatchObject({ code: 3001 });
  });

  it('comes after 2001', async () => {
    expect(await post('/api/devices/DEV-999999/backups/BKP-1/restore')).toMatchObject({ code: 2001 });
  });
});

describe('3002', () => {
  /** The kept file of a backup that was just made: the one with this content. */
  const keptFile = (content: string) => {
    const dir = join(daemon.home, homeFiles.blobs);
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
    const found = files
      .map(file => join(file.parentPath, file.name))
      .find(file => readFileSync(file, 'utf8') === content);
    if (!found) throw new Error('the backup is not on the disk');
    return found;
  };

  it('is 400: the kept file has been damaged, at a restore', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const content = `secret ${freshSerial()}`;
    const raw = form({}, { name: 'a.bak', content });
    const { backupId } = data(await daemon.call('POST', `/api/devices/${deviceId}/backups`, undefined, { raw }));
    writeFileSync(keptFile(content), content.replace('secret', 'SECRET'));
    const path = `/api/devices/${deviceId}/backups/${backupId}`;
    expect(await post(`${path}/restore`)).toMatchObject({ status: 400, code: 3002 });
  });

  it('is the answer to a kept file that has been cut short, at a download too', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const content = `secret ${freshSerial()}`;
    const raw = form({}, { name: 'a.bak', content });
    const { backupId } = data(await daemon.call('POST', `/api/devices/${deviceId}/backups`, undefined, { raw }));
    writeFileSync(keptFile(content), '');
    const path = `/api/devices/${deviceId}/backups/${backupId}`;
    expect(await post(`${path}/restore`)).toMatchObject({ status: 400, code: 3002 });
    expect(await get(`${path}/download`)).toMatchObject({ status: 400, code: 3002 });
  });
});

describe('4001', () => {
  it.each(['APP-999999', 'APP-0', 'nothing'])('is 404: there is no version %s', async versionId => {
    expect(await get(`/api/app-versions/${versionId}`)).toMatchObject({ status: 404, code: 4001 });
    expect(await get(`/api/app-versions/${versionId}/download`)).toMatchObject({ status: 404, code: 4001 });
  });
  it('is the answer while a platform has no version yet', async () => {
    expect(await get('/api/app-versions/latest?platform=ios')).toMatchObject({ status: 404, code: 4001 });
  });
});

describe('4002', () => {
  it.each([
    ['an extension of another platform', {}, { name: 'devmgr.exe' }],
    ['no extension', {}, { name: 'devmgr' }],
    ['an empty file', {}, { content: '' }],
  ])('is 400: %s', async (_, fields, file) => {
    expect(await upload(daemon, packageForm(fields, file))).toMatchObject({ status: 400, code: 4002 });
  });

  it('is the answer to the same platform, version and extension again; another extension is good', async () => {
    const fields = { platform: 'linux', version: '3.0.0' };
    const send = (name: string) => upload(daemon, packageForm(fields, { name }));
    expect(await send('devmgr.deb')).toMatchObject({ code: 200, data: { platform: 'LINUX' } });
    expect(await send('devmgr.DEB')).toMatchObject({ status: 400, code: 4002 });
    expect(await send('devmgr.rpm')).toMatchObject({ code: 200 });
  });

  it('is the answer to a broken multipart body', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const raw = '--x\r\nContent-Disposition: form-data; name="platform"\r\n\r\nANDROID\r\n';
    const answer = await daemon.call('POST', '/api/app-versions/upload', undefined, { raw, headers });
    expect(answer).toMatchObject({ status: 400, code: 4002 });
  });

  it.each([
    ['a missing file', 'file', form({ platform: 'ANDROID', version: '9.0.0' })],
    ['a missing field', 'version', form({ platform: 'ANDROID' }, { name: 'a.apk', content: 'x' })],
    ['an unknown platform', 'platform', form({ platform: 'AMIGA', version: '9.0.0' }, { name: 'a.apk', content: 'x' })],
    ['a malformed version', 'version', form({ platform: 'ANDROID', version: 'one' }, { name: 'a.apk', content: 'x' })],
  ])('is not the answer to %s, which is 1001', async (_, field, body) => {
    const answer = await upload(daemon, body);
    expect(answer).toMatchObject({ status: 400, code: 1001 });
    expect(answer.message).toContain(field);
  });

  it('is not the answer to a body that is no form at all, which is 1001', async () => {
    expect(await post('/api/app-versions/upload', { platform: 'ANDROID' })).toMatchObject({ status: 400, code: 1001 });
  });
});

describe('404', () => {
  it.each([
    ['GET', '/api/devices'],
    ['GET', '/'],
    ['GET', '/api/devices/'],
    ['POST', '/api/devices/batch'],
    ['GET', '/API/devices/list'],
    ['GET', '/api/devices/DEV-1/'],
    ['GET', '/api/api/devices/list'],
  ])('is the answer to an unknown route: %s %s', async (method, path) => {
    expect(await daemon.call(method, path)).toMatchObject({ status: 404, code: 404, data: null });
  });
  it.each([
    ['PUT', '/api/auth/login'],
    ['GET', '/api/devices/register'],
    ['DELETE', '/api/devices/DEV-1'],
    ['PATCH', '/api/devices/DEV-1'],
    ['POST', '/api/health'],
  ])('is the answer to a method that the route does not have: %s %s', async (method, path) => {
    const answer = await daemon.call(method, path);
    // What looks like the id of a device is one that does not exist.
    expect([404, 2001]).toContain(answer.code);
    expect(answer.status).toBe(404);
  });
  it('is the answer to an unknown user', async () => {
    expect(await daemon.call('PUT', '/api/users/USR-999999', { role: 'VIEWER' })).toMatchObject({
      status: 404,
      code: 404,
    });
    expect(await post('/api/users/nobody/password', { password: adminPassword })).toMatchObject({
      status: 404,
      code: 404,
    });
  });
});

describe('416', () => {
  it('is the answer to a range beyond the file', async () => {
    const { versionId } = data(await upload(daemon));
    const headers = { range: 'bytes=9999-' };
    const path = `/api/app-versions/${versionId}/download`;
    expect(await daemon.call('GET', path, undefined, { headers })).toMatchObject({ status: 416, code: 416 });
  });
});

describe('every answer', () => {
  it('carries a request id of its own', async () => {
    const answers = [await get('/api/health'), await get('/api/none'), await get('/api/devices/list', null)];
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^\S{4,}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

/** Bytes in, bytes out: what no HTTP client would send. */
function rawRequest(bytes: string): Promise<string> {
  const { port } = new URL(daemon.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('utf8').on('data', chunk => {
      answer += chunk;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}
