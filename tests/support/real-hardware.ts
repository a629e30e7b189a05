/** A hardware service over HTTP for authenticators of the tests, through the real HID driver. */

import { onTestFinished } from 'vitest';
import { attachedTo } from './attached.ts';
import { FakeHid } from './fake-hid.ts';
import type { FidoKey } from './fido-key.ts';
import { answering, json, success } from './http-servers.ts';

/** Listens until the test ends, with this key attached. */
export async function realHardware(serial: string, fido: FidoKey): Promise<{ readonly url: string }> {
  const system = new FakeHid();
  const keys = attachedTo(system);
  system.plug({ serial, interfaces: { fido } });
  await keys.start();
  onTestFinished(() => keys.stop());
  const answer = async (url: string, body: string): Promise<unknown> => {
    if (url === '/api/hardware/keys') return { list: await keys.list(), drivers: keys.driverStatuses() };
    const [, keyId, verb] = /keys\/([^/]+)\/(prove|sign)$/.exec(url) ?? [];
    if (verb === undefined) return null;
    const { signal } = new AbortController();
    const input = JSON.parse(body) as never;
    return verb === 'prove' ? keys.prove(keyId!, input, signal) : keys.sign(keyId!, input, signal);
  };
  return answering(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const data = await answer(request.url!, Buffer.concat(parts).toString());
    if (data !== null) return void response.writeHead(200, json).end(success(data));
    response.writeHead(404, json).end('{"code":404,"message":"not found","data":null}');
  });
}
