/** Uploads and downloads: what arrives is what was sent, or nothing is kept. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { downloadedBytes } from '../../src/cli/framework/files/download.ts';
import { answering, flood } from '../support/http-servers.ts';
import { quietClient } from '../support/stream-server.ts';
import { devmgr, start, temporaryFolder } from './program.ts';

const content = Buffer.from('an installer package');
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

interface Served {
  readonly bytes?: Buffer;
  readonly fileName?: string;
  /** Answers a request for the file. */
  readonly file?: (response: ServerResponse, request: IncomingMessage) => void;
  /** Digest in the response to an upload. */
  readonly digest?: string;
}

/** A registry with one package, as far as a transfer needs one. */
async function serving({
  bytes = content,
  fileName = 'devmgr.apk',
  file = response => response.end(bytes),
  ...more
}: Served) {
  const sha256 = digestOf(bytes);
  const app = { versionId: 'APP-1', platform: 'ANDROID', version: '1.0.0', fileName, fileSize: bytes.length };
  const rest = { versionName: null, changelog: null, forceUpdate: false, minSupportVersion: null };
  const record = { ...app, ...rest, sha256, uploadedBy: 'admin', createdAt: '2026-03-01T08:30:00.000Z' };
  const server = createServer((request, response) => {
    if (request.url!.endsWith('/download')) return file(response, request);
    const data = request.method === 'POST' ? { ...record, sha256: more.digest ?? sha256 } : record;
    request.resume().on('end', () => response.end(JSON.stringify({ code: 200, message: 'success', data })));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const cwd = temporaryFolder();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = (...args: string[]) => devmgr([...args, '--server', url], { cwd, env: { DEVMGR_TOKEN: 'token' } });
  return { cwd, url, run, files: () => readdirSync(cwd) };
}

describe('a download', () => {
  test('is stored under its own name once its digest has been checked', async () => {
    const { cwd, run, files } = await serving({});
    const { code, stdout } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(0);
    expect(stdout).toContain('(checked)');
    expect(files()).toEqual(['devmgr.apk']);
    expect(readFileSync(join(cwd, 'devmgr.apk'))).toEqual(content);
  });

  test('that arrives changed is not kept', async () => {
    const changed = Buffer.from(content);
    changed[0]! ^= 1;
    const { run, files } = await serving({ file: response => response.end(changed) });
    const { code, stderr } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(1);
    expect(stderr).toContain('arrived damaged');
    expect(files()).toEqual([]);
  });

  test('that breaks off is resumed behind what has arrived', async () => {
    const ranges: unknown[] = [];
    const file = (response: ServerResponse, { headers }: IncomingMessage) => {
      ranges.push([headers.range, headers['if-range']]);
      const start = Number(/=(\d+)-/.exec(headers.range ?? '=0-')![1]);
      const part = content.subarray(start, start + 8);
      const length = { 'content-length': content.length - start };
      response.writeHead(start > 0 ? 206 : 200, { ...length, 'content-range': `bytes ${start}-19/20` });
      if (start + 8 >= content.length) return void response.end(part);
      response.write(part);
      setImmediate(() => response.destroy());
    };
    const { cwd, run, files } = await serving({ file });
    const { code, stdout, stderr } = await run('apps', 'download', 'APP-1');
    expect(code).toBe(0);
    expect(stdout).toContain('(checked)');
    expect(stderr).toContain('resuming in');
    expect(files()).toEqual(['devmgr.apk']);
    expect(readFileSync(join(cwd, 'devmgr.apk'))).toEqual(content);
    const tag = `"${digestOf(content)}"`;
    expect(ranges).toEqual([
      [undefined, undefined],
      ['bytes=8-', tag],
      ['bytes=16-', tag],
    ]);
  });

  test('that breaks off is not kept if the server then refuses it', async () => {
    let requests = 0;
    const file = (response: ServerResponse) => {
      if (requests++ > 0)
        return void response.writeHead(404).end(JSON.stringify({ code: 4001, message: 'no such version', data: null }));
      response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 5));
      setImmediate(() => response.destroy());
    };
    const { run, files } = await serving({ file });
    expect((await run('apps', 'download', 'APP-1')).code).toBe(5);
    expect(files()).toEqual([]);
  });

  test.each([
    ['../../package.apk', 'package.apk'],
    ['../../.bashrc', 'package'],
    ['-rf', 'package'],
    [`${'鍵'.repeat(84)}.deb`, 'package'],
    ['.zshenv', 'package'],
    ['C:\\Windows\\evil.exe', 'evil.exe'],
    ['/etc/passwd', 'passwd'],
    ['..', 'package'],
    ['', 'package'],
  ])('stays in its folder and is not hidden, no matter what name the server gives it: %j', async (fileName, name) => {
    const { run, files } = await serving({ fileName });
    expect((await run('apps', 'download', 'APP-1')).code).toBe(0);
    expect(files()).toEqual([name]);
  });

  test('overwrites nothing without --force', async () => {
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

  test('into a missing folder is an error in words', async () => {
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
      // A reader that pauses after each piece lets the pipe fill up: what comes last has to wait.
      child.stdout!.on('data', () => {
        child.stdout!.pause();
        setTimeout(() => child.stdout!.resume(), 15);
      });
      const { code, stdout } = await ended;
      expect(code).toBe(0);
      expect(stdout.length).toBe(size);
    },
  );

  test('that arrives changed into a pipe ends with 1 as well', async () => {
    const { run, files } = await serving({ file: response => response.end(Buffer.alloc(content.length)) });
    expect((await run('apps', 'download', 'APP-1', '--out', '-')).code).toBe(1);
    expect(files()).toEqual([]);
  });
});

describe('the bytes of a download', () => {
  const never = new AbortController().signal;
  const sha256 = digestOf(content);

  /** Reads a download to its end without waiting between attempts, and lists the retries. */
  async function readFrom(url: string, size = content.length) {
    const retries: string[] = [];
    const client = quietClient(url, 'token', never);
    client.pause = () => Promise.resolve();
    const onRetry = (text: string) => void retries.push(text);
    const params = { versionId: 'APP-1' };
    const chunks: Buffer[] = [];
    const read = (async () => {
      const download = { client, operation: 'downloadAppVersion', params, size, sha256, onRetry } as const;
      for await (const chunk of downloadedBytes(download)) chunks.push(chunk);
    })();
    return { read, retries, bytes: () => Buffer.concat(chunks) };
  }

  test('come once each from a server that sends the whole file again', async () => {
    let requests = 0;
    const { url } = await answering((_, response) => {
      response.writeHead(200, { 'content-length': content.length });
      if (requests++ > 0) return void response.end(content);
      response.write(content.subarray(0, 7));
      setImmediate(() => response.destroy());
    });
    const { read, retries, bytes } = await readFrom(url);
    await read;
    expect(bytes()).toEqual(content);
    expect(retries).toHaveLength(1);
  });

  test('end after several attempts in a row that bring nothing', async () => {
    const { url } = await answering((_, response) => {
      response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 5));
      setImmediate(() => response.destroy());
    });
    const { read, retries, bytes } = await readFrom(url);
    await expect(read).rejects.toMatchObject({ kind: 'unreachable' });
    expect(bytes()).toEqual(content.subarray(0, 5));
    expect(retries).toHaveLength(5);
  });

  test('are not requested again if nothing has arrived', async () => {
    const { url } = await answering((_, response) => void response.destroy());
    const { read, retries } = await readFrom(url);
    await expect(read).rejects.toMatchObject({ kind: 'unreachable' });
    expect(retries).toEqual([]);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['that continue beyond the size of the file', response => flood(response), 'more than the 20 bytes'],
    [
      'of another part than requested',
      response => void response.writeHead(206, { 'content-range': 'bytes 9-19/20' }).end(content.subarray(9)),
      'another part',
    ],
  ])('%s are refused', async (_, respond, words) => {
    let requests = 0;
    const { url } = await answering((_, response) => {
      if (requests++ > 0) return respond(response);
      response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 5));
      setImmediate(() => response.destroy());
    });
    const { read } = await readFrom(url);
    await expect(read).rejects.toMatchObject({ kind: 'failure', message: expect.stringContaining(words) });
  });
});

test('an upload that the server stored with another digest ends with 1', async () => {
  const upload = async (digest: string) => {
    const { cwd, run } = await serving({ digest });
    writeFileSync(join(cwd, 'devmgr.apk'), content);
    return run('apps', 'add', 'devmgr.apk', '--version', '1.0.0');
  };
  expect((await upload(digestOf(content))).code).toBe(0);
  const { code, stderr } = await upload('0'.repeat(64));
  expect(code).toBe(1);
  expect(stderr).toContain('the server stored a different file');
});

test('a large upload prints nothing but its result', async () => {
  const large = Buffer.alloc(20_000_000, 7);
  const { cwd, run } = await serving({ digest: createHash('sha256').update(large).digest('hex') });
  writeFileSync(join(cwd, 'devmgr.apk'), large);
  const { code, stderr } = await run('apps', 'add', 'devmgr.apk', '--version', '1.0.0', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
