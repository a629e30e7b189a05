/** A refusal must reach the client, whatever it is doing at that moment, and a slow client must not block the daemon. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { filesIn, formEnd, formType, sendForm, uploadPath } from '../support/forms.ts';
import { beginUpload, block, formStart, MiB } from '../support/sending.ts';

let daemon: TestDaemon;
/** The daemon and an administrator's token. */
const target = () => ({ url: daemon.url, token: daemon.adminToken });
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

/** Sends everything before it reads anything, as many clients do; returns the response. */
async function sendThenRead(head: readonly string[], body: readonly Buffer[]): Promise<string> {
  const { hostname, port } = new URL(daemon.url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.pause();
  await once(socket, 'connect');
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const start = [`POST ${uploadPath} HTTP/1.1`, `Host: ${hostname}`, `Content-Length: ${length}`, ...head];
  socket.write(`${start.join('\r\n')}\r\n\r\n`);
  for (const piece of body) if (!socket.write(piece)) await once(socket, 'drain');
  let text = '';
  for await (const piece of socket) {
    text += piece;
    if (text.endsWith('}')) break;
  }
  socket.destroy();
  return text;
}

const pieces = Array.from({ length: (48 * MiB) / block.length }, () => block);
const body = (fileName: string) => [formStart('1.0.0', fileName), ...pieces, Buffer.from(formEnd)];

describe.each([
  ['keeps the connection', []],
  ['closes the connection', ['Connection: close']],
] as const)('a client that sends 48 MiB before it reads, and %s, reads', (_how, headers) => {
  const form = `Content-Type: ${formType}`;
  const authorization = () => `Authorization: Bearer ${daemon.adminToken}`;

  it('4002 for a wrong extension', async () => {
    const answer = await sendThenRead([form, authorization(), ...headers], body('a.exe'));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":4002');
  });

  it('1004 for a missing token', async () => {
    expect(await sendThenRead([form, ...headers], body('a.apk'))).toContain('"code":1004');
  });

  it('1001 for a body that is not a form', async () => {
    const answer = await sendThenRead(['Content-Type: text/plain', authorization(), ...headers], body('a.apk'));
    expect(answer).toContain('"code":1001');
  });
});

describe('a refusal', () => {
  it('is sent as soon as it is certain, not after the file', async () => {
    const upload = beginUpload(target(), '1.0.0', { size: 1024 * MiB, start: formStart('1.0.0', 'a.exe') });
    await upload.file(block.length);
    expect(await upload.answered).toMatchObject({ status: 400, code: 4002 });
    upload.request.destroy();
  });

  it('of a duplicate is sent before the file has arrived, too', async () => {
    await sendForm(daemon, uploadPath, Buffer.concat([formStart('3.0.0'), Buffer.from(`x${formEnd}`)]));
    const upload = beginUpload(target(), '3.0.0', { size: 1024 * MiB });
    await upload.file(block.length);
    expect(await upload.answered).toMatchObject({ code: 4002, message: expect.stringContaining('already') });
    upload.request.destroy();
  });

  it('of a length beyond every limit is sent before the form has arrived', async () => {
    const upload = beginUpload(target(), '1.0.0', { size: 5 * 1024 * MiB });
    expect(await upload.answered).toMatchObject({
      status: 400,
      code: 4002,
      message: expect.stringContaining('larger'),
    });
    upload.request.destroy();
  });

  it('leaves the connection usable for the next request', async () => {
    const bad = await daemon.call('POST', uploadPath, undefined, {
      headers: { 'content-type': formType },
      raw: new Uint8Array(Buffer.concat(body('a.exe'))),
    });
    expect(bad.code).toBe(4002);
    expect((await daemon.call('GET', '/api/app-versions/list')).code).toBe(200);
  });
});

describe('a client that disconnects', () => {
  it.each(['size known', 'size unknown'])('in the middle of a file (%s) leaves no file', async how => {
    const before = await filesIn(daemon);
    const upload = beginUpload(target(), '2.0.0', how === 'size known' ? { size: 8 * MiB } : {});
    await upload.file(4 * MiB);
    await expect.poll(() => filesIn(daemon)).toHaveLength(before.length + 1);
    upload.request.destroy();
    await expect.poll(() => filesIn(daemon)).toEqual(before);
  });

  it('is not logged as an error', () => {
    expect(daemon.logged()).not.toContain('"level":50');
  });
});

describe('parallel uploads', () => {
  it('do not wait for a slow one', async () => {
    const slow = beginUpload(target(), '4.0.0', { size: MiB });
    await slow.file(block.length);
    const quick = beginUpload(target(), '4.0.1', { size: 4 * MiB });
    await quick.file(4 * MiB);
    quick.end();
    expect(await quick.answered).toMatchObject({ code: 200 });
    await slow.file(MiB - block.length);
    slow.end();
    expect(await slow.answered).toMatchObject({ code: 200, data: { fileSize: MiB } });
  });
});
