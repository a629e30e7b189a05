/** Every page of the console: the name of a record leads to the record. */
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { type ConsoleTab, consoleTests, settled } from './browser.ts';
import { type ItemIds, places, withItem } from './pages.ts';
import { fillSample } from './sample.ts';

/** Pages whose rows are the records themselves, which have no page each. */
const lists = ['tokens', 'webhooks', 'providers', 'packages', 'trust'];

/** Script of the page: texts with one of the names outside a link, a control, a title or a command. */
const unlinkedIn = (names: readonly string[], isList: boolean): string => `(() => {
  const escaped = ${JSON.stringify(names)}.map(name => name.replace(/[.+*?^$()[\\]{}|\\\\]/g, '\\\\$&')).join('|');
  const pattern = new RegExp('(?<![\\\\w.@:/-])(' + escaped + ')(?![\\\\w@/-]|\\\\.\\\\w)');
  // The full name of a person is in a row that leads to the person.
  const isOfRow = text => text.parentElement.closest('tr')?.querySelector('th a[href*="people/"]');
  const free = 'a, button, label, option, code, caption, summary, h1, time${isList ? ', th' : ''}';
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const found = new Set();
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (pattern.test(text.textContent) && !text.parentElement.closest(free) && !isOfRow(text))
      found.add(text.parentElement.closest('section, table')?.textContent.slice(0, 20) + ' … ' + text.textContent);
  return [...found];
})()`;

needs('chromium')('the name of a record on every page of the console', () => {
  const { daemon, openTab } = consoleTests({ simulateKeys: 1 });
  let items: ItemIds = {};
  let tab: ConsoleTab;
  let names: readonly string[] = [];
  let own: Readonly<Record<string, readonly string[]>> = {};
  beforeAll(async () => {
    items = await fillSample({ url: daemon.url, password: adminPassword });
    const listed = async (path: string) => data(await daemon.call('GET', path)).list as Record<string, string>[];
    const [devices, people, users, providers] = await Promise.all(
      ['/api/devices/list?size=100', '/api/people/list', '/api/users/list', '/api/providers/list'].map(listed),
    );
    names = [
      ...devices!.map(({ deviceId }) => deviceId!),
      ...people!.flatMap(({ personId, userName, name }) => [personId!, userName!, name!]),
      ...users!.map(({ username }) => username!),
      ...providers!.map(({ name }) => name!),
      items.lots!,
      items.stations!,
    ];
    const person = people!.find(({ personId }) => personId === items.people)!;
    const user = users!.find(({ id }) => id === items.users)!;
    own = {
      'devices/ITEM': [items.devices!],
      'people/ITEM': [person.personId!, person.userName!, person.name!],
      'users/ITEM': [user.username!],
      'lots/ITEM': [items.lots!],
      'stations/ITEM': [items.stations!],
    };
    tab = await openTab();
  });

  it.each(places)('is a link: %s', async place => {
    await tab.show(withItem(place, items));
    await tab.page.locator('main h1').waitFor();
    await settled(tab.page);
    await tab.page.evaluate(
      `for (const closed of document.querySelectorAll('main details:not([open]) > summary')) closed.click()`,
    );
    await settled(tab.page);
    const others = names.filter(name => !own[place]?.includes(name));
    expect(await tab.page.evaluate(unlinkedIn(others, lists.includes(place)))).toEqual([]);
  });
});
