/** The look of the console: nothing is cut off, and lengths of time are in words. */
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { consoleTests, settled } from './browser.ts';
import { type ItemIds, places, withItem } from './pages.ts';
import { fillSample } from './sample.ts';

/** Script of the page: its buttons that an edge of the window or of a box cuts off, and pills that are wider than their word needs. */
const faults = `(() => {
  const visible = [...document.querySelectorAll('main :is(button, .badge)')].filter(each => each.checkVisibility());
  const isCut = each => {
    const { left, right, width } = each.getBoundingClientRect();
    if (width > 1 && (left < 0 || right > innerWidth + 1)) return true;
    for (let box = each.parentElement; box !== document.body; box = box.parentElement) {
      const edge = box.getBoundingClientRect();
      if (getComputedStyle(box).overflowX !== 'visible' && (left < edge.left - 1 || right > edge.right + 1)) return true;
    }
    return false;
  };
  const isWide = each => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return each.offsetWidth > range.getBoundingClientRect().width + 36;
  };
  return visible
    .filter(each => each.matches('.badge') ? isWide(each) : isCut(each) && (innerWidth < 640 || each.closest('.row-actions') || !each.closest('table')))
    .map(each => each.outerHTML);
})()`;

needs('chromium')('the look of the console', () => {
  const { daemon, openTab } = consoleTests();
  let items: ItemIds = {};
  beforeAll(async () => {
    items = await fillSample({ url: daemon.url, password: adminPassword });
  });

  it.each([360, 768])(
    'no button is cut off, and no pill is wider than its word, on any page at %i pixels',
    async width => {
      const { page, context, show } = await openTab({ viewport: { width, height: 900 } });
      for (const place of places) {
        await show(withItem(place, items));
        await page.locator('main h1').waitFor();
        await settled(page);
        expect(await page.evaluate(faults), place).toEqual([]);
      }
      await context.close();
    },
  );

  it('the first two tags of a device are whole in its row, and whole serial numbers in its card', async () => {
    const { page, context } = await openTab({ place: 'devices', viewport: { width: 1440, height: 900 } });
    const clipped = (cells: string) =>
      page.locator(cells).evaluateAll(all => all.filter(each => each.scrollWidth > each.clientWidth).length);
    await page.locator('td.tags').first().waitFor();
    expect(await clipped('td.tags')).toBe(0);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await clipped('td:is(.tags, .code)')).toBe(0);
    await context.close();
  });

  it('the German choices of the filters are within their column at 1280 pixels', async () => {
    const { page, context } = await openTab({ place: 'devices', locale: 'de-DE' });
    await page.getByText('Filter', { exact: true }).click();
    const choices = page.locator('.columns .choices');
    await choices.last().waitFor();
    expect(await choices.evaluateAll(all => all.map(each => each.scrollWidth - each.clientWidth))).toEqual([0, 0, 0]);
    await context.close();
  });

  it('the menu of a row is above the buttons of the rows below', async () => {
    const { page, context } = await openTab({ place: 'devices', viewport: { width: 1440, height: 900 } });
    await page.locator('td.row-actions button').first().click();
    const items = page.getByRole('menuitem');
    await items.last().waitFor();
    const covered = await page.evaluate(`[...document.querySelectorAll('[role=menuitem]')].filter(item => {
      const { right, top, height } = item.getBoundingClientRect();
      return !item.contains(document.elementFromPoint(right - 8, top + height / 2));
    }).length`);
    expect(covered).toBe(0);
    await context.close();
  });

  it('a printed page of a device has its note, and each time of its history beside its event', async () => {
    const { page, context } = await openTab({ place: withItem('devices/ITEM', items) });
    await page.locator('.events li').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.locator('time[data-exact]').first().waitFor();
    expect(await page.locator('textarea').inputValue()).toContain('lanyard');
    expect(await page.locator('textarea').isVisible()).toBe(true);
    const overlapping = await page.evaluate(`[...document.querySelectorAll('.events li')].filter(line => {
      const [time, event] = [...line.children].map(part => part.getBoundingClientRect());
      return event.left < time.right && event.top < time.bottom;
    }).length`);
    expect(overlapping).toBe(0);
    await context.close();
  });

  it('the report of a lot writes lengths of time as a person would', async () => {
    const { page, context } = await openTab();
    await page.route('**/export?*', async route => {
      const response = await route.fetch();
      const lines = (await response.text()).trim().split('\n');
      const devices = lines.map((line, i) => {
        const device = JSON.parse(line);
        return JSON.stringify({ ...device, createdAt: new Date(Date.UTC(2026, 0, 1) + i * 75_600_000).toISOString() });
      });
      await route.fulfill({ response, body: `${devices.join('\n')}\n` });
    });
    await page.goto(`${daemon.url}/console/#/${withItem('lots/ITEM', items)}`);
    await page
      .locator('dd', { hasText: /^21 hr$/ })
      .first()
      .waitFor();
    await page.getByText(/^Registrations per \d+ (hr|days?)( \d+ hr)? /).waitFor();
    await context.close();
  });

  it('the sign-in shows the logo', async () => {
    const { page, context } = await openTab({ token: null });
    await page.getByRole('heading', { name: 'devmgr' }).locator('.logo').waitFor();
    await context.close();
  });
});
