/** Work without a pointer. Other tests have walks of their own: their titles end with "by keyboard alone". */
import { beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, consoleTests, dialog, settled, tabTo } from './browser.ts';
import { fleet } from './fleet.ts';

/** The name of a control that Tab reaches, and what is typed there: `=` precedes a text, the others are keys. */
type Step = readonly [control: string, ...typed: string[]];

interface Walk {
  readonly place: string;
  readonly steps: readonly Step[];
  /** The text of the page after that. */
  readonly shown: string;
  /** The address of the page after that. */
  readonly address: RegExp;
}

const walks: Readonly<Record<string, Walk>> = {
  'a use of a device is recorded': {
    place: 'devices/DEV-1',
    steps: [
      ['Actions for DEV-1', 'Enter', 'r', 'e', 'c', 'Enter'],
      ['Duration in minutes', '=200', 'Enter'],
    ],
    shown: '1 · 3 hr 20 min',
    address: /devices\/DEV-1$/,
  },
  'the journal is searched by person, device, day and type': {
    place: 'activity',
    steps: [
      ['Filters', 'Enter'],
      ['Device', '=DEV-2', 'Enter'],
      ['Account or program', '=bela', 'Enter'],
      ['From (day)', '=01022020'],
      ['Updated', 'Space'],
    ],
    shown: 'searched for',
    address: /(?=.*deviceId=DEV-2)(?=.*actor=bela)(?=.*from=2020-01-02)(?=.*types=DEVICE_UPDATED)/,
  },
  'the report of a station is opened': {
    place: '',
    steps: [
      ['Stations', 'Enter'],
      ['line-3', 'Enter'],
    ],
    shown: 'Station line-3',
    address: /stations\/line-3$/,
  },
  'the health of the daemon is looked at': {
    place: '',
    steps: [['Health', 'Enter']],
    shown: 'Everything works.',
    address: /health$/,
  },
  'a figure of the overview leads to its devices': {
    place: '',
    steps: [['2 inactive', 'Enter']],
    shown: '2 devices',
    address: /devices\?status=INACTIVE$/,
  },
};

needs('chromium')('by keyboard alone', () => {
  const { daemon, openTab } = consoleTests();
  beforeAll(async () => {
    await fleet(daemon, 'Walk', 3, 1);
    data(await daemon.call('PUT', '/api/devices/DEV-3', { tags: { station: 'line-3' } }));
    const { token } = await daemon.user('bela', 'DEALER');
    data(await daemon.call('PUT', '/api/devices/DEV-2', { note: 'searched for' }, { token }));
  });

  it.each(Object.entries(walks))('%s', async (_, { place, steps, shown, address }) => {
    const { page, context, complaints } = await openTab({ place });
    await page.locator('main h1').waitFor();
    await settled(page);
    for (const [control, ...typed] of steps) {
      await tabTo(page, control);
      for (const keys of typed) {
        if (keys === 'Enter' && (await dialog(page).isVisible())) await armed(page);
        if (keys.startsWith('=')) await page.keyboard.type(keys.slice(1));
        else await page.keyboard.press(keys);
        await settled(page);
      }
    }
    await page.locator('main').getByText(shown, { exact: true }).waitFor();
    expect(decodeURIComponent(page.url())).toMatch(address);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
