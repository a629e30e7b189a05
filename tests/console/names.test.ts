/** Every page of the console: the name of a record leads to the record, and what is wrong leads to a next step. */
import { beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { type ConsoleTab, settled } from './browser.ts';
import { everyPlace, OWN_KEYS, stuck, wholeRegistry } from './states.ts';

/** Pages whose rows are the records themselves, which have no page each. */
const lists = ['packages', 'trust'];

/** Script of the page: texts with one of the names outside a link, a control, a title or a command. */
const unlinkedIn = (names: readonly string[], isList: boolean): string => `(() => {
  const escaped = ${JSON.stringify(names)}.map(name => name.replace(/[.+*?^$()[\\]{}|\\\\]/g, '\\\\$&')).join('|');
  const pattern = new RegExp('(?<![\\\\w.@:=/-])(' + escaped + ')(?![\\\\w@/-]|\\\\.\\\\w)');
  // The full name of a person is in a row that leads to the person.
  const isOfRow = text => text.parentElement.closest('tr')?.querySelector('th a[href*="people/"]');
  // What was changed of a record is below the link to it.
  const isOfEvent = text => text.parentElement.closest('.changes')?.closest('li').querySelector('a')?.textContent.includes(text.textContent);
  const free = 'a, button, label, option, code, caption, summary, h1, time${isList ? ', th' : ''}';
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const found = new Set();
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (pattern.test(text.textContent) && !text.parentElement.closest(free) && !isOfRow(text) && !isOfEvent(text))
      found.add(text.parentElement.closest('section, table')?.textContent.slice(0, 20) + ' … ' + text.textContent);
  return [...found];
})()`;

needs('chromium')('the name of a record on every page of the console', () => {
  const { daemon, openTab, items: sampleItems, placeOf, sessionFor } = wholeRegistry();
  let tab: ConsoleTab;
  let names: readonly string[] = [];
  let own: Readonly<Record<string, readonly string[]>> = {};
  beforeAll(async () => {
    const items = sampleItems();
    const admin = sessionFor('overview');
    const listed = async (path: string) =>
      data(await daemon.call('GET', path, undefined, admin)).list as Record<string, string>[];
    const [devices, people, users, providers, webhooks, tokens] = await Promise.all(
      [
        ...['/api/devices/list?size=100', '/api/people/list?size=100', '/api/users/list'],
        ...['/api/providers/list', '/api/webhooks/list', '/api/tokens/list'],
      ].map(listed),
    );
    names = [
      ...devices!.map(({ deviceId }) => deviceId!),
      ...people!.flatMap(({ personId, userName, name }) => [personId!, userName!, ...(name ? [name] : [])]),
      ...users!.map(({ username }) => username!),
      ...[...providers!, ...tokens!].map(({ name }) => name!),
      ...webhooks!.map(({ url }) => url!),
      items.lots!,
      items.stations!,
    ];
    const namesOf = (place: string) => {
      const person = people!.find(({ personId }) => placeOf(place) === `people/${personId}`)!;
      return [person.personId!, person.userName!, person.name ?? ''];
    };
    const user = users!.find(({ id }) => id === items.users)!;
    own = {
      'devices/ITEM': [items.devices!],
      'people/ITEM': namesOf('people/ITEM'),
      'an erased person': namesOf('an erased person'),
      'a person with an open case': namesOf('a person with an open case'),
      'a shipped, overdue key': [placeOf('a shipped, overdue key').split('/')[1]!],
      'users/ITEM': [user.username!],
      'providers/ITEM': [items.providers!],
      'webhooks/ITEM': webhooks!.map(({ url }) => url!),
      'tokens/ITEM': ['line-3'],
      'lots/ITEM': [items.lots!],
      'stations/ITEM': [items.stations!],
    };
    tab = await openTab(admin);
  });

  it('is not shown to a HOLDER, except those of own keys', async () => {
    const { page, context } = await openTab({ ...sessionFor(OWN_KEYS), place: OWN_KEYS });
    await page.locator('main section').first().waitFor();
    await settled(page);
    const shown = await page.locator('body').textContent();
    expect([...new Set(names)].filter(name => shown?.includes(name))).toEqual(['hanna.holt']);
    await context.close();
  });

  it.each(everyPlace.filter(place => place !== OWN_KEYS))(
    'is a link, and no state is without a next step: %s',
    async place => {
      await tab.show(placeOf(place));
      await tab.page.locator('main h1').waitFor();
      await settled(tab.page);
      await tab.page.evaluate(
        `for (const closed of document.querySelectorAll('main details:not([open]) > summary')) closed.click()`,
      );
      await settled(tab.page);
      const others = names.filter(name => !own[place]?.includes(name));
      expect(await tab.page.evaluate(unlinkedIn(others, lists.includes(place)))).toEqual([]);
      expect(await tab.page.evaluate(stuck)).toEqual([]);
    },
  );
});
