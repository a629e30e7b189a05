/** The servers in docs/doors.md, with Debian's nginx and a stand-in for step-ca: an allowed key gets in, others do not. */
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { expect, it } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { deviceIn } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { answerOf } from '../support/issuing-providers.ts';
import { findTool, needs } from '../support/needs.ts';
import { block, ready, registry } from './doors.ts';

/** A key with a credential that was issued at a provider, the id of that credential and its SSH key if it has one. */
async function issuedKey({ daemon }: Awaited<ReturnType<typeof registry>>) {
  const call = async (path: string, body: object) => (await daemon.call('POST', path, body)).data;
  const { providerId } = await call('/api/providers', { name: 'ssh', type: 'ssh' });
  const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
  const begun = await call(`/api/devices/${deviceId}/credentials`, { providerId });
  const response = answerOf(begun);
  await call(`/api/devices/${deviceId}/credentials/${begun.credentialId}`, { response });
  const [{ ssh }] = (await daemon.call('GET', `/api/devices/${deviceId}/credentials`)).data;
  const lock = () => call(`/api/devices/${deviceId}/lock`, { reason: 'lost' });
  return { credentialId: response.id, sshKey: ssh.publicKey as string, deviceId, serialNumber, lock };
}

/** Runs nginx with `servers` until the test ends. */
async function startNginx({ daemon, at }: Awaited<ReturnType<typeof registry>>, servers: string): Promise<void> {
  const script = block('nginx', 'js').replace('https://registry.example.com', daemon.url);
  const exported = `${block('Teleport', 'js')}export default { ask, decide, traits };`;
  at('door.js', script.replace('/etc/devmgr-door.token', at('token')).replace(/export default .*;/, exported));
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `  ${name}_temp_path ${at(name)};`);
  const config = `daemon off;
master_process off;
pid ${at('pid')};
error_log stderr notice;
load_module /usr/lib/nginx/modules/ngx_http_js_module.so;
events {}
http {
  access_log off;
${folders.join('\n')}
${servers.replaceAll('/etc/nginx', at(''))}
}
`;
  const nginx = spawn(findTool('nginx')!, ['-c', at('nginx.conf', config)], { stdio: ['ignore', 'pipe', 'pipe'] });
  await ready(nginx, /using the "epoll"|built by|start/);
}

needs('nginx', 'nginx libnginx-mod-http-js')('nginx', () => {
  it('lets in a key that is allowed, and no other', async () => {
    const parts = await registry();
    const { credentialId, deviceId, lock } = await issuedKey(parts);
    const [port, behind, envoy] = [await freePort(), await freePort(), await freePort()];
    const server = block('nginx', 'nginx')
      .replace('127.0.0.1:8080', `127.0.0.1:${behind}`)
      .replace('server {', `server {\n  listen 127.0.0.1:${port};`);
    const others = `  server { listen 127.0.0.1:${behind}; return 200 'in'; }
  server {
    listen 127.0.0.1:${envoy};
    location = /door { js_content door.ask; }
    location = /traits { js_content door.traits; }
  }`;
    await startNginx(parts, `${server}\n${others}`);
    const visit = (credential?: string, url = `http://127.0.0.1:${port}/`) =>
      fetch(url, { headers: credential ? { 'x-credential-id': credential } : {} });
    const status = async (credential?: string) => (await visit(credential)).status;
    // Envoy appends the path of the request.
    const pathOfEnvoy = `http://127.0.0.1:${envoy}/door?/page?of=a-request`;
    await expect.poll(() => status(credentialId).catch(() => null)).toBe(200);
    expect([await status('AAAA'), await status()]).toEqual([403, 403]);
    expect((await visit(credentialId, pathOfEnvoy)).status).toBe(200);
    const traits = async () => (await visit(credentialId, `http://127.0.0.1:${envoy}/traits`)).json();
    const allowed = { devmgr_allowed: ['true'], devmgr_reason: ['active'], devmgr_device: [deviceId] };
    expect(await traits()).toEqual(allowed);
    await lock();
    expect(await status(credentialId)).toBe(403);
    expect((await visit(credentialId, pathOfEnvoy)).status).toBe(403);
    expect(await traits()).toEqual({ ...allowed, devmgr_allowed: ['false'], devmgr_reason: ['locked'] });
    await parts.daemon.stop();
    expect(await status(credentialId)).toBe(403);
    expect((await visit(credentialId, `http://127.0.0.1:${envoy}/traits`)).status).toBe(503);
  });

  it('answers the webhooks of step-ca, and refuses a request that another one has signed or that is old', async () => {
    const parts = await registry();
    const { at } = parts;
    const { sshKey, deviceId, serialNumber, lock } = await issuedKey(parts);
    const port = await freePort();
    const { cert } = makeCertificate(at(''), 'door');
    const [id, secret] = ['7d3c64dc-ec0e-4a0f-a489-241650554bd7', Buffer.alloc(64, 7)];
    at('step-ca.json', JSON.stringify({ [id]: secret.toString('base64') }));
    const script = block('step-ca', 'js').replaceAll('/etc/nginx', at(''));
    at('step-ca.js', script.replace('/etc/devmgr-step-ca.json', at('step-ca.json')));
    await startNginx(parts, block('step-ca', 'nginx').replace('8443', `127.0.0.1:${port}`));

    // Bodies of webhook/types.go of step-ca, whose []byte is base64 and whose times have nanoseconds.
    const publicKey = sshKey.split(' ')[1]!;
    const requested = { publicKey, type: 'user', keyID: 'ada', principals: ['ada'] };
    const certificate = { Type: 1, KeyID: 'ada', ValidPrincipals: ['ada'], publicKey, validBefore: 2, validAfter: 1 };
    const x509 = { subject: { commonName: 'ada' }, publicKey: 'AAAA', publicKeyAlgorithm: 'ECDSA', raw: 'AAAA' };
    const attested = { attestationData: { permanentIdentifier: serialNumber } };
    const stamp = (at = Date.now()) => new Date(at).toISOString().replace('Z', '123456Z');
    interface Sent {
      readonly key?: Buffer;
      readonly from?: string;
      readonly signed?: (hex: string) => string;
    }
    const ask = (body: object, { key = secret, from = id, signed = hex => hex }: Sent = {}) => {
      const bytes = JSON.stringify({ timestamp: stamp(), ...body });
      const signature = signed(createHmac('sha256', key).update(bytes).digest('hex'));
      return post(`https://127.0.0.1:${port}/step-ca`, readFileSync(cert), bytes, {
        'x-smallstep-webhook-id': from,
        ...(signature && { 'x-smallstep-signature': signature }),
      });
    };
    const allowed = { allow: true, data: { allowed: true, deviceId, reason: 'active' } };
    await expect.poll(() => ask({ sshCertificateRequest: requested }).catch(() => null)).toMatchObject([200, allowed]);
    expect(await ask({ sshCertificate: certificate })).toMatchObject([200, allowed]);
    expect(await ask({ ...attested, x509CertificateRequest: x509 })).toMatchObject([200, allowed]);
    expect(await ask({ ...attested, x509Certificate: x509 })).toMatchObject([200, allowed]);
    const refused = { allow: false };
    expect(await ask({ x509Certificate: x509, authorizationPrincipal: 'ada' })).toMatchObject([200, refused]);
    expect(await ask({ attestationData: { permanentIdentifier: 'other' } })).toMatchObject([200, refused]);
    const others: Sent[] = [
      { key: Buffer.alloc(64, 8) },
      { signed: hex => (hex[63] === '0' ? `${hex.slice(0, 63)}1` : `${hex.slice(0, 63)}0`) },
      { signed: hex => hex.slice(0, 62) },
      { signed: () => '' },
      { from: 'constructor' },
      { from: 'other' },
    ];
    for (const other of others) expect((await ask(attested, other))[0]).toBe(401);
    expect((await ask({ ...attested, timestamp: stamp(Date.now() - 61_000) }))[0]).toBe(401);
    expect((await ask({ ...attested, timestamp: undefined }))[0]).toBe(401);
    expect((await ask({ sshCertificate: { publicKey: 'AA' } }))[0]).toBe(503);
    await lock();
    const locked = { allow: false, data: { reason: 'locked' } };
    expect(await ask({ sshCertificateRequest: requested })).toMatchObject([200, locked]);
    expect(await ask({ ...attested, x509Certificate: x509 })).toMatchObject([200, locked]);
    await parts.daemon.stop();
    expect((await ask(attested))[0]).toBe(503);
  });
});

/** The status and the body of an answer over HTTPS. */
const post = (url: string, ca: Buffer, bytes: string, headers: Record<string, string>) =>
  new Promise<[number, unknown]>((resolve, reject) => {
    const sent = request(url, { method: 'POST', ca, headers: { 'content-type': 'application/json', ...headers } });
    sent.on('error', reject);
    sent.on('response', async response => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve([response.statusCode!, response.statusCode === 200 ? JSON.parse(text) : text]);
    });
    sent.end(bytes);
  });
