// `npm run docs:pictures`: the pictures of the console that docs/console.md shows, of a daemon with made-up devices. With --all, each page
// in each theme and width goes to .cache/pictures, to be looked at. Needs chromium.
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { pino } from 'pino';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { readSettings } from '../../daemon/home/given-settings.ts';
import { startDaemon } from '../../daemon/start/main.ts';
import { places, withItem } from '../../tests/console/pages.ts';
import { fillSample } from '../../tests/console/sample.ts';

const root = join(import.meta.dirname, '..', '..');
const isAll = process.argv.includes('--all');
const images = isAll ? join(root, '.cache', 'pictures') : join(root, 'docs', 'images');
const manual = readFileSync(join(root, 'docs', 'console.md'), 'utf8');
const home = mkdtempSync(join(tmpdir(), 'devmgr-console-pictures-'));
const password = 'pictures of the console';
const sizes = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1280, height: 800 },
  { width: 1440, height: 900 },
] as const;
/** Of WebP, 0 to 100. */
const QUALITY = 72;

// The sample takes 14 days of the daemon's clock, which end now.
mock.timers.enable({ apis: ['Date'], now: Date.now() - 14 * 86_400_000 });
const daemon = await startDaemon(
  {
    ...readSettings({ port: 0, simulateKeys: 1 }, { DEVMGR_ADMIN_PASSWORD: password }),
    home,
    json: true,
    verbose: false,
    limits: { login: null, query: null, modify: null, upload: null },
    hardware: false,
    fileBounds: { total: null, reserve: () => 0, daily: null },
  },
  '1.0.0',
  pino({ level: 'silent' }),
);
const { url } = daemon;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
try {
  const items = await fillSample({ url, password, forward: milliseconds => mock.timers.tick(milliseconds) });
  mock.timers.reset();
  mkdirSync(images, { recursive: true });
  for (const old of globSync('console-*', { cwd: images })) rmSync(join(images, old));
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
  const page = await context.newPage();
  const tools = await context.newCDPSession(page);
  await page.goto(`${url}/console/`);
  await page.getByLabel('User name').waitFor();
  await pictures(page, tools, 'sign-in');
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByText('live', { exact: true }).waitFor();
  for (const place of places) {
    await page.goto(`${url}/console/#/${withItem(place, items)}`);
    await page.locator('main h1').waitFor();
    await page.waitForLoadState('networkidle');
    await page.getByText('Loading …').first().waitFor({ state: 'detached' });
    // Beside every control: nothing has the focus.
    await page.mouse.click(1, 1);
    await pictures(page, tools, place.replace('/ITEM', '-item'));
  }
} finally {
  await browser.close();
  await daemon.stop();
  rmSync(home, { recursive: true, force: true });
}

/** The page as it stands, in each size and theme. */
async function pictures(page: Page, tools: CDPSession, name: string): Promise<void> {
  for (const size of sizes)
    for (const colorScheme of ['light', 'dark'] as const) {
      const file = `console-${name}-${colorScheme}-${size.width}.webp`;
      if (!isAll && !manual.includes(`images/${file}`)) continue;
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      const { data } = await tools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
      writeFileSync(join(images, file), Buffer.from(data, 'base64'));
    }
}
