import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homeFiles } from '../../src/contract/local.ts';
import { adminPassword } from '../support/daemon.ts';
import { backUp, data, deviceIn, form, freshSerial, packageForm, upload } from '../support/fleet.ts';
import { daemonOfCodes } from './codes.ts';

const { daemon, post, get } = daemonOfCodes();

describe('3001', () => {
  it.each(['BKP-999999', 'BKP-0', 'nothing'])('is 404 for the unknown backup %s', async backupId => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const path = `/api/devices/${deviceId}/backups/${backupId}`;
    expect(await post(`${path}/restore`)).toMatchObject({ status: 404, code: 3001 });
    expect(await get(`${path}/download`)).toMatchObject({ status: 404, code: 3001 });
  });

  it('is returned for the backup of another device', async () => {
    const [one, other] = [await deviceIn('ACTIVE', daemon), await deviceIn('ACTIVE', daemon)];
    const { backupId } = data(await backUp(daemon, one.deviceId));
    expect(await post(`/api/devices/${other.deviceId}/backups/${backupId}/restore`)).toMatchObject({ code: 3001 });
  });

  it('comes after 2001', async () => {
    expect(await post('/api/devices/DEV-999999/backups/BKP-1/restore')).toMatchObject({ code: 2001 });
  });
});

describe('3002', () => {
  /** The stored file with this content. */
  const keptFile = (content: string) => {
    const dir = join(daemon.home, homeFiles.blobs);
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
    const found = files
      .map(file => join(file.parentPath, file.name))
      .find(file => readFileSync(file, 'utf8') === content);
    if (!found) throw new Error('the backup is not on the disk');
    return found;
  };

  it('is 400 at the restore of a damaged file', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const content = `secret ${freshSerial()}`;
    const raw = form({}, { name: 'a.bak', content });
    const { backupId } = data(await daemon.call('POST', `/api/devices/${deviceId}/backups`, undefined, { raw }));
    writeFileSync(keptFile(content), content.replace('secret', 'SECRET'));
    const path = `/api/devices/${deviceId}/backups/${backupId}`;
    expect(await post(`${path}/restore`)).toMatchObject({ status: 400, code: 3002 });
  });

  it('is returned for a truncated file, at the download too', async () => {
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
  it.each(['APP-999999', 'APP-0', 'nothing'])('is 404 for the unknown version %s', async versionId => {
    expect(await get(`/api/app-versions/${versionId}`)).toMatchObject({ status: 404, code: 4001 });
    expect(await get(`/api/app-versions/${versionId}/download`)).toMatchObject({ status: 404, code: 4001 });
  });
  it('is returned while a platform has no version', async () => {
    expect(await get('/api/app-versions/latest?platform=ios')).toMatchObject({ status: 404, code: 4001 });
  });
});

describe('4002', () => {
  it.each([
    ['an extension of another platform', {}, { name: 'devmgr.exe' }],
    ['no extension', {}, { name: 'devmgr' }],
    ['an empty file', {}, { content: '' }],
  ])('is 400 for %s', async (_, fields, file) => {
    expect(await upload(daemon, packageForm(fields, file))).toMatchObject({ status: 400, code: 4002 });
  });

  it('is returned for the same platform, version and extension again, but not for another extension', async () => {
    const fields = { platform: 'linux', version: '3.0.0' };
    const send = (name: string) => upload(daemon, packageForm(fields, { name }));
    expect(await send('devmgr.deb')).toMatchObject({ code: 200, data: { platform: 'LINUX' } });
    expect(await send('devmgr.DEB')).toMatchObject({ status: 400, code: 4002 });
    expect(await send('devmgr.rpm')).toMatchObject({ code: 200 });
  });

  it('is returned for a broken multipart body', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const raw = '--x\r\nContent-Disposition: form-data; name="platform"\r\n\r\nANDROID\r\n';
    const response = await daemon.call('POST', '/api/app-versions/upload', undefined, { raw, headers });
    expect(response).toMatchObject({ status: 400, code: 4002 });
  });

  it.each([
    ['a missing file', 'file', form({ platform: 'ANDROID', version: '9.0.0' })],
    ['a missing field', 'version', form({ platform: 'ANDROID' }, { name: 'a.apk', content: 'x' })],
    ['an unknown platform', 'platform', form({ platform: 'AMIGA', version: '9.0.0' }, { name: 'a.apk', content: 'x' })],
    ['a malformed version', 'version', form({ platform: 'ANDROID', version: 'one' }, { name: 'a.apk', content: 'x' })],
  ])('is not returned for %s, which is 1001', async (_, field, body) => {
    const response = await upload(daemon, body);
    expect(response).toMatchObject({ status: 400, code: 1001 });
    expect(response.message).toContain(field);
  });

  it('is not returned for a body that is not a form, which is 1001', async () => {
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
  ])('is returned for an unknown path: %s %s', async (method, path) => {
    expect(await daemon.call(method, path)).toMatchObject({ status: 404, code: 404, data: null });
  });
  it.each([
    ['PUT', '/api/auth/login'],
    ['GET', '/api/devices/register'],
    ['DELETE', '/api/devices/DEV-1'],
    ['PATCH', '/api/devices/DEV-1'],
    ['POST', '/api/health'],
  ])('is returned for a method that the path does not have: %s %s', async (method, path) => {
    const response = await daemon.call(method, path);
    // The last part of the path reads as a device id that does not exist.
    expect([404, 2001]).toContain(response.code);
    expect(response.status).toBe(404);
  });
  it('is returned for an unknown user', async () => {
    expect(await daemon.call('PUT', '/api/users/USR-999999', { role: 'VIEWER' })).toMatchObject({
      status: 404,
      code: 404,
    });
    expect(await post('/api/users/unknown/password', { password: adminPassword })).toMatchObject({
      status: 404,
      code: 404,
    });
  });
});

describe('416', () => {
  it('is returned for a range beyond the file', async () => {
    const { versionId } = data(await upload(daemon));
    const headers = { range: 'bytes=9999-' };
    const path = `/api/app-versions/${versionId}/download`;
    expect(await daemon.call('GET', path, undefined, { headers })).toMatchObject({ status: 416, code: 416 });
  });
});

describe('every response', () => {
  it('has its own request id', async () => {
    const responses = [await get('/api/health'), await get('/api/none'), await get('/api/devices/list', null)];
    const ids = responses.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^\S{4,}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
