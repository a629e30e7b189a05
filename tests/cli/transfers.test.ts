/** Uploads and downloads: a file arrives unchanged, or is not kept. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { devmgr, start, temporaryFolder } from './program.ts';

const content = Buffer.from('an installer package');
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

interface Served {
  readonly bytes?: Buffer;
  readonly fileName?: string;
  /** Sends the file. */
  readonly file?: (answer: ServerResponse) => void;
  /** Digest in the response to an upload. */
  readonly digest?: string;
}

/** A registry with one package, with the operations that a transfer needs. */
async function serving({
  bytes = content,
  fileName = 'devmgr.apk',
  file = answer => answer.end(bytes),
  ...more
}: Served) {
  const sha256 = digestOf(bytes);
  const app = { versionId: 'APP-1', platform: 'ANDROID', version: '1.0.0', fileName, fileSize: bytes.length };
  const rest = { versionName: null, changelog: null, forceUpdate: false, minSupportVersion: null };
  const record = { ...app, ...rest, sha256, uploadedBy: 'admin', createdAt: '2026-03-01T08:30:00.000Z' };
  const server = createServer((request, answer) => {
    if (request.url!.endsWith('/download')) return file(answer.writeHead(200, { 'content-length': bytes.length }));
    const data = request.method === 'POST' ? { ...record, sha256: more.digest ?? sha256 } : record;
    request.resume().on('end', () => answer.end(JSON.stringify({ code: 200, message: 'success', data })));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const cwd = temporaryFolder();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = (...args: string[]) => devmgr([...args, '--server', url], { cwd, env: { DEVMGR_TOKEN: 'token' } });
  return { cwd, url, run, files: () => readdirSync(cwd) };
}

describe('a download', () => {
  test('is stored under its own name after its digest was verified', async () => {
    const { cwd, run, files } = await serving({});
    const { code, stdout } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(0);
    expect(stdout).toContain('(checked)');
    expect(files()).toEqual(['devmgr.apk']);
    expect(readFileSync(join(cwd, 'devmgr.apk'))).toEqual(content);
  });

  test('that was changed in transit is not kept', async () => {
    const changed = Buffer.from(content);
    changed[0]! ^= 1;
    const { run, files } = await serving({ file: answer => answer.end(changed) });
    const { code, stderr } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(1);
    expect(stderr).toContain('arrived damaged');
    expect(files()).toEqual([]);
  });

  test('that is incomplete is not kept', async () => {
    const file = (answer: ServerResponse) => {
      answer.write(content.subarray(0, 5));
      setImmediate(() => answer.destroy());
    };
    const { run, files } = await serving({ file });
    const { code, stderr } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(9);
    expect(stderr).toMatch(/the connection was lost after \d B of 20 B/);
    expect(files()).toEqual([]);
  });

  test.each([
    ['../../.bashrc', '.bashrc'],
    ['C:\\Windows\\evil.exe', 'evil.exe'],
    ['/etc/passwd', 'passwd'],
    ['..', 'package'],
    ['', 'package'],
  ])('stays in its folder, whatever name the server gives it: %j', async (fileName, name) => {
    const { run, files } = await serving({ fileName });
    expect((await run('apps', 'download', 'APP-1')).code).toBe(0);
    expect(files()).toEqual([name]);
  });

  test('overwrites a file only with --force', async () => {
    const { cwd, run, files } = await serving({});
    writeFileSync(join(cwd, 'devmgr.apk'), 'mine');
    const { code, stderr } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(2);
    expect(stderr).toContain('--force');
    expect(readFileSync(join(cwd, 'devmgr.apk'), 'utf8')).toBe('mine');
    expect((await run('apps', 'download', 'APP-1', '--force')).code).toBe(0);
    expect(readFileSync(join(cwd, 'devmgr.apk'))).toEqual(content);
    expect(files()).toEqual(['devmgr.apk']);
  });

  test('to a missing folder is refused with a message', async () => {
    const { run, files } = await serving({});
    const { code, stderr } = await run('apps', 'download', 'APP-1', '--out', join('absent', 'devmgr.apk'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`cannot write ${join('absent', 'devmgr.apk')}: it does not exist`),
    });
    expect(files()).toEqual([]);
  });

  test.each([300_000, 700_000, 1_000_000])(
    'of %d bytes into a pipe is complete, however slowly it is read',
    async size => {
      const bytes = Buffer.alloc(size, 'package ');
      const { url } = await serving({ bytes });
      const env = { DEVMGR_TOKEN: 'token' };
      const { child, ended } = start(['apps', 'download', 'APP-1', '--out', '-', '--server', url], { env });
      // A reader that pauses after each chunk lets the pipe fill up: the last data has to wait.
      child.stdout!.on('data', () => {
        child.stdout!.pause();
        setTimeout(() => child.stdout!.resume(), 15);
      });
      const { code, stdout } = await ended;
      expect(code).toBe(0);
      expect(stdout.length).toBe(size);
    },
  );

  test('into a pipe that was changed in transit ends with 1', async () => {
    const { run, files } = await serving({ file: answer => answer.end(Buffer.alloc(content.length)) });
    expect((await run('apps', 'download', 'APP-1', '--out', '-')).code).toBe(1);
    expect(files()).toEqual([]);
  });
});

test('an upload that the server stored differently ends with 1', async () => {
  const upload = async (digest: string) => {
    const { cwd, run } = await serving({ digest });
    writeFileSync(join(cwd, 'devmgr.apk'), content);
    return run('upload', 'devmgr.apk', '--version', '1.0.0');
  };
  expect((await upload(digestOf(content))).code).toBe(0);
  const { code, stderr } = await upload('0'.repeat(64));
  expect(code).toBe(1);
  expect(stderr).toContain('the server stored a different file');
});

test('a large upload writes only its result', async () => {
  const large = Buffer.alloc(20_000_000, 7);
  const { cwd, run } = await serving({ digest: createHash('sha256').update(large).digest('hex') });
  writeFileSync(join(cwd, 'devmgr.apk'), large);
  const { code, stderr } = await run('upload', 'devmgr.apk', '--version', '1.0.0', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
