/** The client for requests to other systems: its connections, and the ends of what does not end. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AllowedTargets, type Resolve } from '../../daemon/base/allowed-targets.ts';
import { Outgoing, TookTooLong } from '../../daemon/base/outgoing.ts';
import { makeCertificate } from '../support/certificates.ts';
import { answering, answeringTls, speaking } from '../support/http-servers.ts';

const get = (url: string) => ({ url: new URL(url), method: 'GET', headers: {} });

it('a request has a connection of its own, which ends with the response', async () => {
  const server = await answering((_request, response) => response.end('answer'));
  const outgoing = new Outgoing({});
  for (let sent = 1; sent <= 2; sent++) {
    const { status, content } = await outgoing.send(get(server.url));
    expect([status, content.toString(), server.connections()]).toEqual([200, 'answer', sent]);
  }
  await expect.poll(() => server.open.size).toBe(0);
});

it('a request whose name is never resolved ends at its deadline, and when it is aborted', async () => {
  const never: Resolve = () => undefined;
  const outgoing = new Outgoing({ allowed: new AllowedTargets([], never) });
  const request = get('https://hooks.example.com/');
  await expect(outgoing.send({ ...request, withinMs: 50 })).rejects.toThrow(TookTooLong);
  const stop = new AbortController();
  const sent = outgoing.send({ ...request, signal: stop.signal });
  stop.abort();
  await expect(sent).rejects.toThrow('The operation was aborted');
});

it('a connection that is silent for too long is ended', async () => {
  const server = await speaking(socket => socket.resume());
  await expect(new Outgoing({ silenceMs: 50 }).send(get(server.url))).rejects.toThrow('no reaction for 0.05 s');
  await expect.poll(() => server.open.size).toBe(0);
});

it('no error has what the other side has sent', async () => {
  const server = await speaking(socket => socket.end('secret of the server\r\n\r\n'));
  const error: unknown = await new Outgoing({}).send(get(server.url)).catch((cause: unknown) => cause);
  expect(JSON.stringify({ ...(error as object), text: `${error}` })).not.toContain('secret of');
  expect(error).toMatchObject({ code: 'HPE_INVALID_CONSTANT' });
  expect((error as Error).cause).toBe(undefined);
});

it.each(['content-length: 9', 'transfer-encoding: chunked'])(
  'a response with %s that breaks off is a closed connection',
  async header => {
    const server = await speaking(socket => socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n5\r\nhello`));
    await expect(new Outgoing({}).send(get(server.url))).rejects.toMatchObject({ code: 'ECONNRESET' });
  },
);

it('a redirect is an answer', async () => {
  const server = await answering((_request, response) => response.writeHead(302, { location: '/other' }).end());
  expect(await new Outgoing({}).send(get(server.url))).toMatchObject({ status: 302 });
  expect(server.connections()).toBe(1);
});

it('a certificate of its own authority is accepted with that authority alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-outgoing-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = makeCertificate(folder, 'server');
  const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)];
  const server = await answeringTls({ key, cert }, (_request, response) => response.end());
  await expect(new Outgoing({}).send(get(server.url))).rejects.toThrow(/self-signed/);
  expect(await new Outgoing({ ca: cert }).send(get(server.url))).toMatchObject({ status: 200 });
});
