/** Every page of the console in each of its states: accessible, and never wider than the window. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { armed, button, type ConsoleTab, consoleTests, dialog, settled, violationsOn } from './browser.ts';
import { places } from './pages.ts';
import { everyPlace, OWN_KEYS, stuck, wholeRegistry } from './states.ts';

/** The console has animations; a color on its way to another one has a contrast of its own. */
const still = { reducedMotion: 'reduce' } as const;
const widths = [360, 1440];
const schemes = ['light', 'dark'] as const;

/**
 * Returns the faults of the page as it is, or with the part of it that a selector finds, in both themes and widths: an empty list
 * if nothing is.
 */
async function faultsOf(page: Page, part?: string): Promise<string[]> {
  const faults: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const measured = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (measured > width) faults.push(`${width}: the document has ${measured} pixels`);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, ...still });
      // The themes differ in their colors alone.
      const rules = colorScheme === 'dark' ? ['color-contrast', 'link-in-text-block'] : undefined;
      const found = await violationsOn(page, { part, rules });
      faults.push(...found.map(fault => `${width} ${colorScheme}: ${fault}`));
    }
  }
  return faults;
}

/** Runs in the page: how much of it has moved without an action of a person, as Chromium counts it (Cumulative Layout Shift). */
const shift = `new Promise(resolve => {
  new PerformanceObserver(list => resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true });
  setTimeout(resolve, 100, 0);
})`;

/** Runs in the page: titles that have a word which is wider than they are. */
const broken = `(() => {
  const titles = [...document.querySelectorAll('main :is(h1, h2, .verdict, .who)')];
  for (const { style } of titles) style.overflowWrap = 'normal';
  return titles.filter(title => title.scrollWidth > title.clientWidth).map(title => title.textContent);
})()`;

/** Runs in the page: tables that are wider than their frames, so that columns are out of sight. */
const cut = `[...document.querySelectorAll('main .scroll')]
  .filter(frame => frame.scrollWidth > frame.clientWidth).map(frame => frame.innerText)`;

/** Waits for a page with all that it loads. */
async function loaded(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await settled(page);
}

/** Loads the console again at another place. A new tab for each page takes three times the processor time. */
async function load({ page }: ConsoleTab, place: string): Promise<void> {
  await page.evaluate(`history.replaceState(null, '', '#/${place}')`);
  await page.reload();
  await loaded(page);
}

/** As in a new tab. */
async function loadWide(tab: ConsoleTab, place: string): Promise<void> {
  await tab.page.setViewportSize({ width: 1280, height: 900 });
  await tab.page.emulateMedia({ colorScheme: 'light', ...still });
  await load(tab, place);
}

/** A tab for each role: of an ADMIN, and of a HOLDER, who has a page of own keys alone. */
type Tabs = Readonly<Record<'admin' | 'holder', ConsoleTab>>;
const tabOf = ({ admin, holder }: Tabs, name: string) => (name === OWN_KEYS ? holder : admin);

needs('chromium')('every page of the console', () => {
  const { openTab, placeOf, sessionFor } = wholeRegistry();
  let tabs: Tabs;
  let german: Tabs;
  let offline: Tabs;
  beforeAll(async () => {
    const open = async (options: Parameters<typeof openTab>[0]): Promise<Tabs> => ({
      admin: await openTab({ place: 'activity', ...options, ...sessionFor('activity') }),
      holder: await openTab({ ...options, ...sessionFor(OWN_KEYS) }),
    });
    tabs = await open(still);
    german = await open({ locale: 'de-DE', viewport: { width: 360, height: 740 } });
    offline = await open(still);
    for (const tab of Object.values(tabs)) {
      // Everything arrives as on a first visit: a page moves while its parts load.
      const tools = await tab.context.newCDPSession(tab.page);
      await tools.send('Network.setCacheDisabled', { cacheDisabled: true });
    }
    for (const { page } of Object.values(offline)) {
      await loaded(page);
      await page.route('**/api/**', route => route.fulfill({ status: 503, body: 'not now' }));
    }
  });

  it.each(everyPlace)(
    'is accessible, fits in the window with data, and does not move while it loads: %s',
    async name => {
      const tab = tabOf(tabs, name);
      await loadWide(tab, placeOf(name));
      expect(await tab.page.evaluate(shift)).toBeLessThan(0.1);
      expect(await faultsOf(tab.page)).toEqual([]);
      expect(tab.complaints.splice(0)).toEqual([]);
    },
  );

  it.each(everyPlace)('fits in a narrow window in German, and breaks no word of a title: %s', async name => {
    const tab = tabOf(german, name);
    await tab.page.setViewportSize({ width: 360, height: 740 });
    await load(tab, placeOf(name));
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    expect(await tab.page.evaluate(broken)).toEqual([]);
    for (const width of [768, 1024]) {
      await tab.page.setViewportSize({ width, height: 740 });
      expect(await tab.page.evaluate(cut), `${width}`).toEqual([]);
    }
  });

  it.each(everyPlace)('is accessible and fits in the window if nothing can be loaded: %s', async name => {
    const { page, show } = tabOf(offline, name);
    await show(name === 'activity' ? 'activity?types=DEVICE_LOCKED' : placeOf(name));
    await page.locator('main h1').waitFor();
    await settled(page);
    expect(await faultsOf(page)).toEqual([]);
  });

  it.each(everyPlace)(
    'is accessible and fits in the window in all dialogs that its buttons open: %s',
    async name => {
      const tab = tabOf(tabs, name);
      const { page } = tab;
      const prepare = async () => {
        await loadWide(tab, placeOf(name));
        // Some buttons are there for chosen rows alone.
        const all = page.getByRole('checkbox', { name: 'Select all on this page' });
        if (await all.isVisible()) await all.check();
      };
      await prepare();
      for (const { at, words, startsAtOnce } of await openersOn(page)) {
        await prepare();
        await page.locator('main button').nth(at).click();
        const opened = dialog(page).or(page.getByRole('menu')).first();
        if (!startsAtOnce) await opened.waitFor();
        await settled(page);
        if (await opened.isVisible()) expect(await faultsOf(page, '[role=menu], dialog[open]'), words).toEqual([]);
      }
    },
    180_000,
  );
});

interface Opener {
  /** Its number among the buttons of the page. */
  readonly at: number;
  readonly words: string;
  /** Whether it may do something else, such as a download. */
  readonly startsAtOnce: boolean;
}

/** The buttons of the page that open a dialog or a menu, one for each of their texts: those of a row do the same in each row. */
async function openersOn(page: Page): Promise<Opener[]> {
  const found = new Map<string, Opener>();
  for (const [at, button] of (await page.locator('main button').all()).entries()) {
    const words = (await button.textContent()) ?? '';
    const surely = words.endsWith('…') || (await button.getAttribute('aria-haspopup')) !== null;
    const mayOpen = surely || (await page.locator('main .row-actions button').and(button).count()) > 0;
    if (mayOpen && !found.has(words) && (await button.isVisible()) && (await button.isEnabled()))
      found.set(words, { at, words, startsAtOnce: !surely });
  }
  return [...found.values()];
}

needs('chromium')('every page of a new console', () => {
  const { daemon, openTab } = consoleTests();
  let tab: ConsoleTab;
  beforeAll(async () => {
    await daemon.user('someone', 'VIEWER');
    tab = await openTab(still);
  });

  it.each([...places, 'no-such-page'])(
    'is accessible, fits in the window and leads on without data: %s',
    async place => {
      await loadWide(tab, place);
      if (!place.endsWith('/ITEM')) expect(await tab.page.evaluate(stuck)).toEqual([]);
      expect(await faultsOf(tab.page)).toEqual([]);
    },
  );

  it('is accessible and fits in the window in the form of every type of provider', async () => {
    const { page } = tab;
    await loadWide(tab, 'providers');
    await button(page, 'Add provider …').first().click();
    await armed(page);
    const type = dialog(page).getByLabel('Type', { exact: true });
    const types = await type.getByRole('option').allTextContents();
    expect(types.length).toBeGreaterThan(5);
    for (const each of types) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await type.selectOption(each);
      for (const more of await dialog(page).locator('details:not([open]) > summary').all()) await more.click();
      expect(await faultsOf(page, 'dialog[open]'), each).toEqual([]);
    }
  });

  it('is accessible and fits in the window before the sign-in', async () => {
    const { page, context } = await openTab({ token: null, ...still });
    await page.getByLabel('User name').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });
});
