/** A daemon whose files are in a real object store. */
import { chmodSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Bucket } from '../../daemon/files/s3/bucket.ts';
import { filesTarget, type S3Target } from '../../daemon/home/object-store-target.ts';
import { backup, check, restore } from '../../daemon/maintenance/programs.ts';
import { type DaemonProcess, spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { beginUpload, block, MiB } from '../support/sending.ts';
import { type Swift, startSwift, withSwift } from '../support/swift.ts';

const urlOf = ({ bucket, prefix, endpoint, region }: S3Target) =>
  `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint!)}&region=${region}`;

withSwift('a daemon with an object store', () => {
  let swift: Swift;
  let home: string;
  let target: S3Target;
  let files: string;
  const running: DaemonProcess[] = [];
  beforeAll(async () => {
    swift = await startSwift();
  });
  afterAll(() => swift.stop());
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'devmgr-objects-'));
    target = await swift.bucket();
    files = urlOf(target);
  });
  afterEach(async () => {
    for (const daemon of running.splice(0)) await daemon.kill();
    await rm(home, { recursive: true, force: true });
  });

  const start = async (env: Readonly<Record<string, string>> = {}) => {
    const daemon = await spawnDaemon({ home, files }, { ...swift.env, ...env });
    running.push(daemon);
    return daemon;
  };
  const refusal = (place: string, env: Readonly<Record<string, string>> = {}) =>
    spawnDaemon({ home, files: place }, { ...swift.env, ...env }).then(
      () => expect.unreachable('it has started'),
      error => String(error.message),
    );
  const objects = async () => {
    const bucket = new Bucket(target);
    const names: string[] = [];
    for await (const batch of bucket.list()) names.push(...batch.map(({ name }) => name));
    const unfinished = await bucket.unfinished();
    bucket.close();
    return { names, unfinished: unfinished.length };
  };
  const send = async (daemon: DaemonProcess, version: string, size: number) => {
    const upload = beginUpload(daemon, version, { size });
    await upload.file(size);
    upload.end();
    return upload.answered;
  };

  it('stores a file there, serves it whole and in parts, and finds it after a restart with keys from a file', async () => {
    const first = await start();
    expect(await send(first, '1.0.0', 20 * MiB)).toMatchObject({ code: 200, data: { fileSize: 20 * MiB } });
    expect((await objects()).names).toHaveLength(1);
    await first.stop();
    const keys = join(home, 'keys');
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = swift.env;
    await writeFile(keys, `[default]\naws_access_key_id=${id}\naws_secret_access_key=${secret}\n`, { mode: 0o600 });
    const none = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
    const second = await start({ ...none, AWS_SHARED_CREDENTIALS_FILE: keys });
    const { versionId } = (
      (await second.call('GET', '/api/app-versions/list')).data as { list: { versionId: string }[] }
    ).list[0]!;
    const get = (range?: string) =>
      fetch(`${second.url}/api/app-versions/${versionId}/download`, {
        headers: { authorization: `Bearer ${second.token}`, ...(range ? { range } : {}) },
      });
    const whole = Buffer.from(await (await get()).arrayBuffer());
    expect(whole.length).toBe(20 * MiB);
    expect(whole.subarray(0, block.length).equals(block)).toBe(true);
    const part = await get('bytes=5242870-5242890');
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(5242870, 5242891))).toBe(true);
  });

  it('has every acknowledged file and no record without one if it is killed in the middle of an upload', async () => {
    const first = await start();
    expect(await send(first, '1.0.0', MiB)).toMatchObject({ code: 200 });
    const unfinished = beginUpload(first, '2.0.0', { size: 40 * MiB });
    await unfinished.file(20 * MiB);
    await expect.poll(objects).toMatchObject({ unfinished: 1 });
    await first.kill();
    unfinished.request.destroy();
    const second = await start();
    expect((await second.call('GET', '/api/app-versions/list')).data).toMatchObject({ pagination: { total: 1 } });
    expect(await send(second, '2.0.0', 9 * MiB)).toMatchObject({ code: 200 });
    expect((await objects()).names).toHaveLength(2);
  });

  it('leaves nothing if the client goes away', async () => {
    const daemon = await start();
    const upload = beginUpload(daemon, '1.0.0', { size: 40 * MiB });
    await upload.file(20 * MiB);
    await expect.poll(objects).toMatchObject({ unfinished: 1 });
    upload.request.destroy();
    await expect.poll(objects).toEqual({ names: [], unfinished: 0 });
  });

  it('answers 503 with Retry-After while the store is away, records nothing, and works when it is back', async () => {
    const daemon = await start();
    const versionId = await uploadApp(daemon, '1.0.0');
    await swift.halt();
    try {
      const upload = beginUpload(daemon, '2.0.0', { size: MiB });
      const { promise: responded, resolve } = Promise.withResolvers<IncomingMessage>();
      upload.request.once('response', resolve);
      await upload.file(MiB);
      upload.end();
      expect(await upload.answered).toMatchObject({ status: 503, code: 500 });
      expect((await responded).headers['retry-after']).toMatch(/^\d+$/);
      const headers = { authorization: `Bearer ${daemon.token}` };
      const download = await fetch(`${daemon.url}/api/app-versions/${versionId}/download`, { headers });
      expect(download.status).toBe(503);
      expect(download.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await download.json()).toMatchObject({ code: 500 });
      expect((await daemon.call('GET', '/api/app-versions/list')).data).toMatchObject({ pagination: { total: 1 } });
    } finally {
      await swift.resume();
    }
    expect(daemon.output()).toContain('the object store failed');
    expect(await send(daemon, '2.0.0', MiB)).toMatchObject({ code: 200 });
  });

  it('is checked and restored with the programs of the registry', async () => {
    const io = () => ({
      stdout: new PassThrough(),
      stderr: new PassThrough().resume(),
      env: { ...swift.env, DEVMGR_FILES: files },
      stdoutIsTerminal: false,
      stderrIsTerminal: false,
    });
    const checked = async () => {
      const used = io();
      const code = await check({ home, json: true }, used);
      used.stdout.end();
      return { code, ...JSON.parse(await text(used.stdout)) };
    };
    const copy = join(home, 'copy.db');
    const daemon = await start();
    await uploadApp(daemon, '1.0.0');
    expect(await backup({ home, json: true, file: copy }, io())).toBe(0);
    await uploadApp(daemon, '2.0.0');
    await daemon.stop();
    expect(await checked()).toMatchObject({ code: 0, files: 2, problems: [] });
    const [first, second] = (await objects()).names;
    const restored = io();
    expect(await restore({ home, json: true, file: copy }, restored)).toBe(0);
    restored.stdout.end();
    const { kept } = JSON.parse(await text(restored.stdout));
    expect(await checked()).toMatchObject({ code: 0, files: 1, problems: [] });
    expect((await objects()).names.filter(name => !name.includes('/'))).toHaveLength(1);
    // The registry that was replaced gets its file back.
    expect(await restore({ home, json: true, file: kept }, io())).toBe(0);
    expect(await checked()).toMatchObject({ code: 0, files: 2, problems: [] });
    const bucket = new Bucket(target);
    await Promise.all([first, second].map(name => bucket.remove(name!)));
    for await (const batch of bucket.list('before-restore-')) for (const { name } of batch) await bucket.remove(name);
    bucket.close();
    expect(await checked()).toMatchObject({
      code: 1,
      problems: [expect.stringContaining('is missing'), expect.anything()],
    });
  });

  it('does not start with a bucket that does not exist, wrong keys or a store that is not there', async () => {
    const noBucket = await refusal(files.replace('files-', 'other-'));
    expect(noBucket).toMatch(/cannot be stored in other-\d+: .*NoSuchBucket/);
    expect(noBucket).toContain('"code":1001');
    const wrongKey = await refusal(files, { AWS_SECRET_ACCESS_KEY: 'wrong-secret' });
    expect(wrongKey).toMatch(/SignatureDoesNotMatch/);
    expect(wrongKey).toContain('"code":1001');
    const nowhere = await refusal(files.replace(/endpoint=[^&]*/, 'endpoint=http://127.0.0.1:1'));
    expect(nowhere).toMatch(/ECONNREFUSED/);
    expect(nowhere).toContain('"code":"UNREACHABLE"');
    for (const said of [nowhere, noBucket, wrongKey]) expect(said).not.toMatch(/testing|wrong-secret/);
  });
});

describe('--files', () => {
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const read = (text: string | null, more: Readonly<Record<string, string>> = {}, insecure = false) =>
    filesTarget(text, { ...env, ...more }, insecure);

  it('names a bucket, a prefix, an endpoint and a region', () => {
    expect(read('s3://my-bucket/a/b/?endpoint=https://s3.example:9000&region=eu-1')).toEqual({
      bucket: 'my-bucket',
      prefix: 'a/b/',
      endpoint: 'https://s3.example:9000',
      region: 'eu-1',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    });
    expect(read('s3://my-bucket')).toMatchObject({ prefix: '', endpoint: undefined, region: 'us-east-1' });
    expect(read('s3://my-bucket', { AWS_REGION: 'eu-2' })).toMatchObject({ region: 'eu-2' });
    expect(read(null, { DEVMGR_FILES: 's3://other-bucket' })).toMatchObject({ bucket: 'other-bucket' });
  });

  it('is the folder of the home if it is absent or file:', () => {
    expect(read(null)).toBeNull();
    expect(read('file:', { DEVMGR_FILES: 's3://other-bucket' })).toBeNull();
  });

  it.each([
    ['http://bucket', /--files is malformed/],
    ['s3:bucket', /--files is malformed/],
    ['s3://B_', /--files is malformed/],
    ['s3://id:secret@bucket/', /--files is malformed/],
    ['s3://bucket/a b', /--files is malformed/],
    ['s3://bucket/../x?y=1', /--files is malformed/],
    ['s3://bucket?endpoint=ftp://x', /--files is malformed/],
    ['s3://bucket?endpoint=http://store.example', /would cross the network unencrypted/],
  ])('refuses %s', (place, message) => {
    expect(() => read(place)).toThrow(message);
  });

  it('requires keys', () => {
    expect(() => filesTarget('s3://bucket', {}, false)).toThrow('its keys are missing');
    expect(() => filesTarget('s3://bucket', { AWS_ACCESS_KEY_ID: 'id' }, false)).toThrow('its keys are missing');
  });

  it('an endpoint without TLS is allowed on loopback, and elsewhere with --insecure-http', () => {
    expect(read('s3://bucket?endpoint=http://127.0.0.1:9000')).toMatchObject({ endpoint: 'http://127.0.0.1:9000' });
    expect(read('s3://bucket?endpoint=http://store:9000', {}, true)).toMatchObject({ endpoint: 'http://store:9000' });
  });
});

describe('AWS_SHARED_CREDENTIALS_FILE', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'devmgr-keys-'));
    file = join(folder, 'credentials');
    await writeFile(file, sections, { mode: 0o600 });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const sections = [
    '# of the object store',
    '[default]',
    'aws_access_key_id = ID1',
    'aws_secret_access_key=a+b/c=',
    '',
    '; temporary',
    '[other one]',
    'aws_access_key_id = ID2',
    'aws_secret_access_key = two',
    'aws_session_token = token',
    '[half]',
    'aws_access_key_id = ID3',
  ].join('\r\n');
  const keys = (env: Readonly<Record<string, string>> = {}) =>
    filesTarget('s3://bucket', { AWS_SHARED_CREDENTIALS_FILE: file, ...env }, false)!.credentials;

  it('has the keys of the section default, or of the one that AWS_PROFILE names', () => {
    expect(keys()).toEqual({ accessKeyId: 'ID1', secretAccessKey: 'a+b/c=' });
    expect(keys({ AWS_PROFILE: 'other one' })).toEqual({
      accessKeyId: 'ID2',
      secretAccessKey: 'two',
      sessionToken: 'token',
    });
  });

  it('is not used if the environment has keys', () => {
    expect(keys({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' })).toMatchObject({ accessKeyId: 'id' });
  });

  it.each([
    ['section that is missing', 'none', /has no section \[none\]/],
    ['section with half of the keys', 'half', /section \[half\] of .* lacks a key/],
  ])('is refused for a %s', (_, profile, message) => {
    expect(() => keys({ AWS_PROFILE: profile })).toThrow(message);
  });

  it('is refused if it does not exist', () => {
    expect(() => keys({ AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') })).toThrow(/does not exist/);
  });

  it.skipIf(process.platform === 'win32')('is refused if others can read it, except as a credential of systemd', () => {
    chmodSync(file, 0o640);
    expect(() => keys()).toThrow(/contains keys, and others can read it/);
    expect(keys({ CREDENTIALS_DIRECTORY: folder })).toMatchObject({ accessKeyId: 'ID1' });
    chmodSync(file, 0o644);
    expect(() => keys({ CREDENTIALS_DIRECTORY: folder })).toThrow(/others can read it/);
  });
});
