import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import './browser.ts';

describe('the files of the console', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon?.stop());
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(daemon.url + path, { headers, redirect: 'manual' });

  /** The address of the script or style sheet that the page names. */
  const addressOf = async (extension: 'js' | 'css') => {
    const page = await (await get('/console/')).text();
    return `/console/${new RegExp(`"(console-[^"]+\\.${extension})"`).exec(page)?.[1]}`;
  };

  it.each(['js', 'css'] as const)('are kept by browsers if their name has their hash: %s', async extension => {
    const file = await get(await addressOf(extension));
    expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect((await get('/console/')).headers.get('cache-control')).toBe('no-cache');
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', null],
    ['', null],
  ])('are compressed as the client accepts it: %s', async (accepted, encoding) => {
    const address = await addressOf('js');
    const plain = await get(address, { 'accept-encoding': 'identity' });
    const file = await get(address, { 'accept-encoding': accepted });
    expect([file.headers.get('content-encoding'), file.headers.get('vary')]).toEqual([encoding, 'accept-encoding']);
    // fetch decompresses what it gets.
    expect(await file.text()).toBe(await plain.text());
    if (encoding) {
      expect(Number(file.headers.get('content-length'))).toBeLessThan(Number(plain.headers.get('content-length')) / 2);
      expect(file.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    }
  });

  const small = ['en-US', 'de-DE'].map(language => ({ language, most: 36_000 }));
  it.each(small)('begin with a module of at most $most bytes: $language', async ({ language, most }) => {
    const page = await (await get('/console/', { 'accept-language': language })).text();
    const entry = await get(`/console/${/"(console-[^"]+\.js)"/.exec(page)?.[1]}`, { 'accept-encoding': 'br' });
    expect(Number(entry.headers.get('content-length'))).toBeGreaterThan(10_000);
    expect(Number(entry.headers.get('content-length'))).toBeLessThanOrEqual(most);
  });

  it.each([
    ['en', {}],
    ['de', { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' }],
    ['de', { 'accept-language': 'fr, en;q=0.2, DE;q=0.5' }],
    ['en', { 'accept-language': 'de;q=0, fr;q=0.7' }],
    ['en', { 'accept-language': ',;q=,constructor;q=2,../de' }],
    ['en', { 'accept-language': 'de', cookie: 'other=1; devmgr-language=en' }],
    ['de', { 'accept-language': 'en', cookie: 'devmgr-language=de;devmgr-language=en' }],
    ['en', { cookie: 'devmgr-language=../de; devmgr-languages=de; =; de' }],
  ])('have the language of the person: %s for %o', async (language, headers) => {
    const page = await get('/console/', headers as Record<string, string>);
    expect(await page.text()).toContain(`<html lang="${language}">`);
    expect(page.headers.get('vary')).toBe('accept-encoding, accept-language, cookie');
  });

  it('are where / and /console redirect a browser, and no other client', async () => {
    const page = await get('/', { accept: 'text/html,*/*;q=0.8' });
    expect([page.status, page.headers.get('location')]).toEqual([302, '/console/']);
    expect((await get('/', { accept: 'application/json' })).status).toBe(404);
    expect((await get('/console')).headers.get('location')).toBe('/console/');
  });

  it('come with a policy that allows this daemon alone and no text as markup', async () => {
    const page = await get('/console/');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; font-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const script = await get(await addressOf('js'));
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    const again = await get(await addressOf('js'), { 'if-none-match': script.headers.get('etag')! });
    expect([again.status, again.headers.get('cross-origin-opener-policy')]).toEqual([304, 'same-origin']);
  });

  it.each([
    '/console/missing.js',
    '/console/..%2fdevmgr.cjs',
    '/console/..%2f..%2fpackage.json',
    '/console/%2e%2e%2fdevmgr.cjs',
    '/console/console.js%00.html',
    '/console/a/b.js',
  ])('are the only ones: %s', async path => {
    expect((await get(path)).status).toBe(404);
  });

  it('are left out with --no-console', async () => {
    const without = await startTestDaemon({ console: false });
    try {
      const page = await fetch(`${without.url}/`, { headers: { accept: 'text/html' }, redirect: 'manual' });
      expect(page.headers.get('location')).toBe('/api/swagger-ui.html');
      expect((await fetch(`${without.url}/console/`)).status).toBe(404);
    } finally {
      await without.stop();
    }
  });
});
