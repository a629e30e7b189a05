/** Every page of the console in both languages: no names and times of the interface, and no text that is cut beside free room. */
import { beforeAll, expect, it } from 'vitest';
import { buildOpenapi } from '../../src/contract/openapi.ts';
import { needs } from '../support/needs.ts';
import { type ConsoleTab, settled } from './browser.ts';
import { everyPlace, OWN_KEYS, wholeRegistry } from './states.ts';

const names = new Set<string>();
/** Adds the names of fields and the values of enumerations that no language has: with a capital inside, or in capitals alone. */
function collect(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { properties = {}, enum: values = [] } = node as { properties?: object; enum?: readonly unknown[] };
  for (const name of [...Object.keys(properties), ...values].map(String))
    if (/^[a-z]+[A-Z]\w*$|^[A-Z]{3,}(_[A-Z]+)*$/.test(name)) names.add(name);
  Object.values(node).forEach(collect);
}
collect(buildOpenapi('1.0.0'));
/** What a file or a card has under this name, and models of the sample. */
const ofFiles = ['userId', 'printedNumber', 'UKEY'];

/** Script of the page: texts besides code with a name of the interface, or a time in its form (`2026-12-01T10:00:00Z`). */
const rawIn = `(() => {
  const names = new Set(${JSON.stringify([...names].filter(name => !ofFiles.includes(name)))});
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (!text.parentElement.closest('code, .code, script, style') &&
        text.textContent.match(/[\\w]+/g)?.some(word => names.has(word) || /^\\d{2}T\\d{2}$/.test(word)))
      found.push(text.parentElement.closest('li, tr, p, label')?.textContent ?? text.textContent);
  return found;
})()`;

/** Script of the page: cells that are cut although the other columns have more room than they need. In a card, none is. */
const cutIn = `(() => {
  const widthOf = cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    return range.getBoundingClientRect().width + Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
  };
  return [...document.querySelectorAll('main table.one-line')].flatMap(table => {
    const rows = [...table.rows].map(row => [...row.cells].filter(cell => cell.checkVisibility()));
    const isCard = innerWidth < 640 && !table.closest('.charts');
    const slack = at => Math.min(...rows.map(row => row[at] ? row[at].clientWidth - widthOf(row[at]) : Infinity));
    return rows.flatMap(row => row.filter((cell, at) => {
      const missing = cell.scrollWidth - cell.clientWidth;
      if (missing <= 1 || cell.matches('.row-actions, .select')) return false;
      if (isCard) return true;
      if (table.matches('.wide')) return cell.matches('td:is(.code, .state, .when)');
      const free = row.map((_, other) => other === at ? 0 : Math.max(0, slack(other))).reduce((all, each) => all + each);
      return free > missing;
    })).map(cell => innerWidth + ': ' + cell.textContent);
  });
})()`;

needs('chromium')('every page of the console, in English and German', () => {
  const { daemon, openTab, placeOf, sessionFor } = wholeRegistry();
  let tabs: readonly ConsoleTab[] = [];
  let holders: readonly ConsoleTab[] = [];
  beforeAll(async () => {
    const { token } = sessionFor('overview');
    const person = {
      userName: 'maximiliane-theodora.von-der-hohenwart',
      name: 'Maximiliane Theodora von der Hohenwart',
    };
    const model = {
      deviceType: 'UKEY',
      serialNumber: 'A-1',
      manufacturer: 'Digital Identity & Security',
      model: 'Fusion NFC PIV',
    };
    const policy = { personsRequired: false, leavers: 'retire', leaverDelayHours: 48 };
    await daemon.call('POST', '/api/people', { ...person, email: `${person.userName}@example.com` }, { token });
    await daemon.call('POST', '/api/devices/register', { ...model, tags: { lot: '2026-44' } }, { token });
    await daemon.call('PUT', '/api/policies/people', policy, { token });
    const open = (place: string) =>
      Promise.all(['en-US', 'de-DE'].map(locale => openTab({ place, locale, ...sessionFor(place) })));
    tabs = await open('overview');
    holders = await open(OWN_KEYS);
  });

  it.each(everyPlace)('have no names of the interface, and no text that is cut beside free room: %s', async place => {
    for (const { page, show } of place === OWN_KEYS ? holders : tabs) {
      await show(placeOf(place));
      await page.locator('main h1').waitFor();
      await settled(page);
      for (const width of [360, 768, 1280, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await settled(page);
        expect(await page.evaluate(cutIn)).toEqual([]);
      }
      await page.evaluate(
        `for (const closed of document.querySelectorAll('main details:not([open]) > summary')) closed.click()`,
      );
      await settled(page);
      expect(await page.evaluate(rawIn)).toEqual([]);
    }
  });
});
