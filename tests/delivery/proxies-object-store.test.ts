/** Files in an object store that is reached through a proxy: a real store, a real proxy. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { openS3Blobs } from '../../daemon/files/s3/s3-blobs.ts';
import type { S3Target } from '../../daemon/home/object-store-target.ts';
import { content, pieces } from '../contract/blobs.ts';
import { encrypted } from '../support/encrypted.ts';
import { closedAddress } from '../support/http-servers.ts';
import { needs } from '../support/needs.ts';
import { type Swift, startSwift, swiftPrograms } from '../support/swift.ts';
import { startTinyproxy } from '../support/tinyproxy.ts';

/** Not an address of loopback by its form, and this machine. */
const elsewhere = '0.0.0.0';

needs(['tinyproxy', ...swiftPrograms], 'tinyproxy swift-proxy swift-account swift-container swift-object')(
  'an object store through a proxy',
  () => {
    let swift: Swift;
    let tls: Awaited<ReturnType<typeof encrypted>>;
    beforeAll(async () => {
      swift = await startSwift();
      tls = await encrypted(swift.endpoint, elsewhere);
    });
    afterAll(async () => {
      tls?.close();
      await swift.stop();
    });
    afterEach(() => vi.unstubAllEnvs());

    const through = (proxy: string) => {
      for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, proxy);
    };
    const targetAt = async (scheme: 'http' | 'https') => ({
      ...(await swift.bucket()),
      endpoint: scheme === 'https' ? tls.url : swift.endpoint.replace('127.0.0.1', elsewhere),
    });
    async function storeAndRead(target: S3Target): Promise<void> {
      const blobs = await openS3Blobs(target);
      const bytes = content(12 * 1024 * 1024);
      const staged = await blobs.receive(Readable.from(pieces(bytes), { objectMode: false }), bytes.length);
      const name = await staged.persist();
      const stored = await blobs.read(name, bytes.length, staged.sha256);
      expect((await buffer(stored.stream(0, bytes.length - 1))).equals(bytes)).toBe(true);
    }

    it.each(['http', 'https'] as const)('files are stored and read over %s, with its credentials', async scheme => {
      const proxy = await startTinyproxy('ann:word');
      const target = await targetAt(scheme);
      through(`http://ann:word@${proxy.place}`);
      await storeAndRead(target);
      const requests = proxy.requests();
      if (scheme === 'https') {
        expect(requests.length).toBeGreaterThan(0);
        expect(new Set(requests)).toEqual(new Set([`CONNECT ${new URL(target.endpoint).host} HTTP/1.1`]));
      } else
        for (const method of ['PUT', 'POST', 'GET'])
          expect(requests).toContainEqual(expect.stringMatching(`^${method} ${target.endpoint}/${target.bucket}/`));
    });

    it('none is used for loopback and for what NO_PROXY names', async () => {
      const proxy = await startTinyproxy();
      const target = await targetAt('https');
      through(`http://${proxy.place}`);
      await storeAndRead(await swift.bucket());
      vi.stubEnv('NO_PROXY', elsewhere);
      await storeAndRead(target);
      expect(proxy.requests()).toEqual([]);
    });

    it.each(['http', 'https'] as const)('an error over %s names the proxy that is down or refuses', async scheme => {
      const target = await targetAt(scheme);
      const variable = `${scheme.toUpperCase()}_PROXY`;
      const failure = () => openS3Blobs(target).then(() => expect.unreachable(), String);
      const away = await closedAddress();
      through(away.replace('://', '://ann:secret@'));
      expect(await failure()).toMatch(`the object store failed through the proxy ${away} (${variable}): connect ECONN`);
      const proxy = await startTinyproxy('ann:word');
      through(`http://ann:secret@${proxy.place}`);
      expect(await failure()).toMatch(`failed through the proxy http://${proxy.place} (${variable}): `);
      expect(await failure()).toContain('401');
      expect(await failure()).not.toContain('secret');
      through('socks5://p:1080');
      expect(await failure()).toBe(`StoreFailure: ${variable} is not the address of a proxy: write http://HOST:PORT`);
    });
  },
);
