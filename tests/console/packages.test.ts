import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { consoleTests, dialog, violationsOn } from './browser.ts';

const MiB = 1024 * 1024;
const hostile = '<img src=x onerror=alert(1)>';
const content = randomBytes(MiB);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const rowOf = (page: Page, file: string) => page.getByRole('row').filter({ hasText: file });
const send = (page: Page) => dialog(page).getByRole('button', { name: 'Upload package' });
/** Opens the form and fills it in. */
const fillIn = async (page: Page, file: string, version: string) => {
  await page.getByRole('button', { name: 'Upload package …' }).press('Enter');
  await page.getByLabel('Package', { exact: true }).setInputFiles(file);
  await page.getByLabel('Version number').fill(version);
};

needs('chromium')('the page Packages of the console', () => {
  const { daemon, openTab } = consoleTests();
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-packages-'));
  const fileNamed = (name: string, bytes: Buffer = content) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const stored = async (fields: Record<string, string>, name: string, to = daemon) => {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    form.append('file', new Blob([content]), name);
    return (await to.call('POST', '/api/app-versions/upload', undefined, { raw: form })).data;
  };

  it('uploads a package by keyboard, compares the digests, and shows hostile names as text', async () => {
    const { page, context, complaints } = await openTab({ place: 'packages' });
    await page.getByText('No package has been uploaded yet.').waitFor();
    await fillIn(page, fileNamed(`${hostile}.apk`), '1.0.0');
    await page.keyboard.press('Tab');
    await page.keyboard.type(`name ${hostile}`);
    await page.keyboard.press('Tab');
    await page.keyboard.type(`changes ${hostile}`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('have the same SHA-256').waitFor();
    await dialog(page).getByText(sha256(content)).waitFor();
    await page.keyboard.press('Escape');
    await rowOf(page, `${hostile}.apk`).getByText('1 MiB').waitFor();
    await rowOf(page, hostile).getByText(`name ${hostile}`).waitFor();
    await rowOf(page, hostile).getByText('forces an update').waitFor();
    await page.getByText('Changes', { exact: true }).click();
    await page.getByText(`changes ${hostile}`).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('finds before the upload what the daemon would refuse', async () => {
    await stored({ platform: 'LINUX', version: '2.0.0' }, 'taken.deb');
    const { page, context, requested } = await openTab({ place: 'packages' });
    await fillIn(page, fileNamed('notes.txt'), '1');
    await dialog(page).getByText('not an installer package').waitFor();
    expect(await send(page).isDisabled()).toBe(true);
    await page.getByLabel('Package', { exact: true }).setInputFiles(fileNamed('empty.deb', Buffer.alloc(0)));
    await dialog(page).getByText('The file is empty.').waitFor();
    const large = fileNamed('large.deb');
    truncateSync(large, 2 ** 31 + 1);
    await page.getByLabel('Package', { exact: true }).setInputFiles(large);
    await dialog(page).getByText('larger than 2 GiB').waitFor();
    await page.getByLabel('Package', { exact: true }).setInputFiles(fileNamed('again.deb'));
    await page.getByLabel('Version number').fill('v1');
    await dialog(page).getByText('Enter up to four numbers').waitFor();
    await page.getByLabel('Version number').fill('2.0.0');
    await send(page).click();
    await dialog(page).getByText('already uploaded as APP-').waitFor();
    expect(requested.filter(url => url.endsWith('/upload'))).toEqual([]);
    await context.close();
  });

  it('shows how much is sent, and a canceled upload stores nothing', async () => {
    const { page, context } = await openTab({ place: 'packages' });
    const network = await context.newCDPSession(page);
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: MiB };
    await network.send('Network.emulateNetworkConditions', slow);
    const file = fileNamed('slow.msi', randomBytes(16 * MiB));
    await fillIn(page, file, '3.0.0');
    await send(page).click();
    const progress = page.getByRole('progressbar');
    await progress.and(page.locator(':not([value="0"])')).waitFor();
    expect(await progress.getAttribute('max')).toBe(`${16 * MiB}`);
    await page.keyboard.press('Escape');
    expect(await progress.count()).toBe(1);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('The upload was canceled.').waitFor();
    expect(await page.getByLabel('Version number').inputValue()).toBe('3.0.0');
    expect((await daemon.call('GET', '/api/app-versions/list?platform=WINDOWS')).data.pagination.total).toBe(0);
    await context.close();
  });

  it('offers no cancel once the package is stored and only the comparison is left', async () => {
    const { page, context } = await openTab({ place: 'packages' });
    await fillIn(page, fileNamed('stored.rpm'), '5.0.0');
    await page.evaluate('Blob.prototype.stream = () => new ReadableStream()');
    await send(page).click();
    await dialog(page).getByText('The package is stored.').waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Cancel upload' }).isDisabled()).toBe(true);
    await context.close();
  });

  it('ends the comparison when the person leaves the page', async () => {
    const { page, context, show } = await openTab({ place: 'packages' });
    await fillIn(page, fileNamed('left.rpm'), '5.1.0');
    await page.evaluate(
      'Blob.prototype.stream = () => new ReadableStream({ cancel() { globalThis.hasEnded = true; } })',
    );
    await send(page).click();
    await dialog(page).getByText('The package is stored.').waitFor();
    await show('activity');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.waitForFunction('globalThis.hasEnded');
    await context.close();
  });

  it.each([
    ['before', '5.2.0'],
    ['after', '5.3.0'],
  ])(
    'reports that nothing was compared if the file cannot be read again, which fails %s the package is stored',
    async (when, version) => {
      const { page, context } = await openTab({ place: 'packages' });
      await fillIn(page, fileNamed(`changed-${when}.rpm`), version);
      await page.evaluate(`Blob.prototype.stream = () => new ReadableStream({
      start(controller) { globalThis.fail = () => controller.error(new DOMException('changed', 'NotReadableError')); },
    })`);
      const upload = Promise.withResolvers<Route>();
      await page.route('**/api/app-versions/upload', route => upload.resolve(route));
      await send(page).click();
      const route = await upload.promise;
      if (when === 'before') await page.evaluate('fail()');
      await route.continue();
      if (when === 'after') {
        await dialog(page).getByText('Comparing the SHA-256').waitFor();
        await page.evaluate('fail()');
      }
      await dialog(page).getByText('its SHA-256 was not compared').waitFor();
      await dialog(page).getByText('Uploaded as APP-').waitFor();
      expect(await dialog(page).getByText('SHA-256 of the file').count()).toBe(0);
      await rowOf(page, `changed-${when}.rpm`).waitFor();
      await context.close();
    },
  );

  it('warns if the daemon stored something else', async () => {
    const app = await stored({ platform: 'IOS', version: '1.0.0' }, 'other.ipa');
    const { page, context } = await openTab({ place: 'packages' });
    const wrong = '0'.repeat(64);
    await page.route('**/api/app-versions/upload', route =>
      route.fulfill({ json: { code: 200, message: 'success', data: { ...app, sha256: wrong } } }),
    );
    await fillIn(page, fileNamed('right.ipa'), '2.0.0');
    await send(page).click();
    await dialog(page).getByRole('alert').getByText('Do not distribute it').waitFor();
    await dialog(page).getByText(wrong).waitFor();
    await dialog(page).getByText(sha256(content)).waitFor();
    await context.close();
  });

  it('shows when the next upload is possible, and keeps what was entered', async () => {
    const limits = { login: null, query: null, modify: null, upload: { count: 1, seconds: 3600 } };
    const limited = await startTestDaemon({ limits });
    try {
      await stored({ platform: 'IOS', version: '1.0.0' }, 'first.ipa', limited);
      const { page, context } = await openTab({ daemon: limited, place: 'packages' });
      await fillIn(page, fileNamed('second.ipa'), '2.0.0');
      await send(page).click();
      await dialog(page).getByText('ten packages an hour. Try again in 60 minutes').waitFor();
      expect(await page.getByLabel('Version number').inputValue()).toBe('2.0.0');
      expect(await send(page).isEnabled()).toBe(true);
      await context.close();
    } finally {
      await limited.stop();
    }
  });

  it('lists one platform, marks its newest version, and shows what others upload', async () => {
    for (const version of ['1.10.0', '1.9.0']) await stored({ platform: 'MACOS', version }, `${version}.dmg`);
    const { token } = await daemon.user('dealer', 'DEALER');
    const { page, context } = await openTab({ place: 'packages', token });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByLabel('Platform').selectOption('MACOS');
    await page.getByText('2 packages').waitFor();
    expect(page.url()).toContain('#/packages?platform=MACOS');
    expect(await page.getByRole('row').filter({ hasText: 'newest' }).allTextContents()).toEqual([
      expect.stringMatching(/^1\.10\.0/),
    ]);
    await stored({ platform: 'MACOS', version: '1.11.0' }, '1.11.0.dmg');
    await rowOf(page, '1.11.0.dmg').getByText('newest').waitFor();
    expect(await page.getByRole('button', { name: 'Upload package …' }).count()).toBe(0);
    await context.close();
  });

  it('saves a package in a file that the person chooses, and no damaged one', async () => {
    const app = await stored({ platform: 'ANDROID', version: '9.0.0' }, 'chosen.apk');
    const { token } = await daemon.user('viewer', 'VIEWER');
    const { page, context } = await openTab({ place: 'packages', token });
    // A file of the page's own stands for the choice: the dialog of the browser belongs to no page.
    await page.evaluate(`window.showSaveFilePicker = async ({ suggestedName }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`);
    const sizeOnDisk = () =>
      page.evaluate(`(async () => {
        const handle = await (await navigator.storage.getDirectory()).getFileHandle('chosen.apk');
        return (await handle.getFile()).size;
      })()`);
    const downloadButton = page.getByRole('button', { name: 'Download chosen.apk' });
    const address = `**/api/app-versions/${app.versionId}/download`;
    await page.route(address, route => route.fulfill({ body: randomBytes(MiB) }));
    await downloadButton.press('Enter');
    await page.getByText('chosen.apk was damaged in transit').waitFor();
    expect(await sizeOnDisk()).toBe(0);
    await page.unroute(address);
    await downloadButton.press('Enter');
    await page.getByText('chosen.apk was saved; its SHA-256 matches.').waitFor();
    expect(await sizeOnDisk()).toBe(MiB);
    await context.close();
  });

  it('keeps a small package in memory where the browser cannot write files, and names the command for a large one', async () => {
    const app = await stored({ platform: 'ANDROID', version: '9.1.0' }, 'plain.apk');
    const { page, context } = await openTab({ place: 'packages?platform=ANDROID' });
    const button = page.getByRole('button', { name: 'Download plain.apk' });
    await button.waitFor();
    await page.evaluate('delete window.showSaveFilePicker');
    const saving = page.waitForEvent('download');
    await button.click();
    expect((await saving).suggestedFilename()).toBe('plain.apk');
    await page.getByText('plain.apk was saved').waitFor();
    const large = { ...app, fileSize: 2 ** 31 };
    const pagination = { page: 1, size: 50, total: 1, totalPages: 1 };
    await page.route('**/api/app-versions/list**', route =>
      route.fulfill({ json: { code: 200, message: 'success', data: { list: [large], pagination } } }),
    );
    await page.getByLabel('Platform').selectOption('All platforms');
    await page.getByText('1 package', { exact: true }).waitFor();
    await button.click();
    await page.getByText(`devmgr apps download ${app.versionId}`).waitFor();
    await context.close();
  });

  it('is accessible with what is wrong with a file', async () => {
    const { page, context, complaints } = await openTab({ place: 'packages', colorScheme: 'dark' });
    await page.getByRole('row').nth(1).waitFor();
    await fillIn(page, fileNamed('notes.txt'), 'v1');
    await dialog(page).getByText('not an installer package').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
