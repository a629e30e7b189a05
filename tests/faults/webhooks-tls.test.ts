/** Webhooks to receivers with TLS whose certificates are valid, of an unknown authority, or for another name. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Certificate, issueCertificate, makeAuthority, makeCertificate } from '../support/certificates.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { registration } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { startReceiver, taken } from '../support/webhook-receiver.ts';

interface Delivery {
  readonly delivered: boolean;
  readonly httpStatus: number | null;
  readonly reason: string | null;
}

needs('openssl')('a receiver with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-webhooks-tls-'));
  let authority: Certificate;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    authority = makeAuthority(folder, 'company');
    const env = { DEVMGR_WEBHOOK_ALLOW: '127.0.0.1', NODE_EXTRA_CA_CERTS: authority.cert };
    daemon = await spawnDaemon({ home: join(folder, 'home') }, env);
  });
  afterAll(async () => {
    await daemon?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async <T>(method: string, path: string, body?: object): Promise<T> =>
    (await daemon.call(method, `/api/webhooks${path}`, body)).data as T;
  const receiverWith = ({ cert, key }: Certificate) =>
    startReceiver(taken, { cert: readFileSync(cert), key: readFileSync(key) });
  const created = (url: string) => call<{ webhookId: string; secret: string }>('POST', '', { url });
  /** The first attempt to deliver an event. Each look is a request. */
  async function attempted(url: string): Promise<Delivery> {
    const { webhookId } = await created(url);
    await daemon.call('POST', '/api/devices/register', registration());
    for (;;) {
      const { list } = await call<{ list: Delivery[] }>('GET', `/${webhookId}/deliveries`);
      if (list[0] !== undefined) return list.at(-1)!;
    }
  }

  it('whose certificate is of the authority in NODE_EXTRA_CA_CERTS gets the events', async () => {
    const receiver = await receiverWith(issueCertificate(temporaryFolder(), authority, 'IP:127.0.0.1'));
    const { secret } = await created(receiver.url);
    await daemon.call('POST', '/api/devices/register', registration());
    await receiver.arrived(1);
    expect(receiver.verified(secret)).toMatchObject([{ event: { type: 'DEVICE_REGISTERED' } }]);
  });

  it('whose certificate is of another authority gets nothing, and the deliveries say why', async () => {
    const other = makeAuthority(temporaryFolder(), 'other');
    const receiver = await receiverWith(issueCertificate(temporaryFolder(), other, 'IP:127.0.0.1'));
    expect(await attempted(receiver.url)).toMatchObject({
      delivered: false,
      httpStatus: null,
      reason: 'the certificate is not trusted: unable to verify the first certificate',
    });
    expect(receiver.posts).toEqual([]);
  });

  it('whose certificate is self-signed gets nothing', async () => {
    const receiver = await receiverWith(makeCertificate(temporaryFolder(), 'self'));
    expect((await attempted(receiver.url)).reason).toBe('the certificate is not trusted: self-signed certificate');
    expect(receiver.posts).toEqual([]);
  });

  it('whose certificate is for another address gets nothing, and its names are not shown', async () => {
    const receiver = await receiverWith(issueCertificate(temporaryFolder(), authority, 'DNS:elsewhere.example'));
    expect((await attempted(receiver.url)).reason).toBe('the certificate is not for 127.0.0.1');
    expect(receiver.posts).toEqual([]);
  });

  it('that does not speak TLS gets nothing', async () => {
    const receiver = await startReceiver();
    expect((await attempted(receiver.url.replace('http:', 'https:'))).reason).toBe('the endpoint does not speak TLS');
    expect(receiver.posts).toEqual([]);
  });
});
