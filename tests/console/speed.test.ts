/** The speed of the pages of the console, measured in the browser. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { button, consoleTests, row, settled } from './browser.ts';
import { type FleetDevice, fleet } from './fleet.ts';

/** Milliseconds of processor time that one task may take. The time that passes depends on what else the machine does. */
const LONGEST_TASK_MS = 100;

needs('chromium')('the console', () => {
  const { daemon, openTab } = consoleTests();

  it.each([
    ['', '.events li'],
    ['devices', 'tbody tr:nth-child(50)'],
  ])('draws a page in steps without Intl, so that it answers between them: %j', async (place, last) => {
    await fleet(daemon, `STEP${place}`, 60);
    const { page, context } = await openTab({ place });
    await page.addInitScript(watchDrawing);
    await page.reload();
    await page.locator(last).first().waitFor();
    const { most, formatters } = await page.evaluate(() => {
      const drawn = globalThis as unknown as Drawn;
      return { most: drawn.most, formatters: drawn.formatters };
    });
    expect(most).toBeLessThanOrEqual(400);
    expect(formatters).toEqual([]);
    await context.close();
  });

  it.each([
    ['sign-in', null],
    ['', undefined],
    ['devices', undefined],
  ])('loads its font after the first paint, and nothing moves: %j', async (place, token) => {
    const { page, context } = await openTab({ place, ...(token === null && { token }) });
    await expect.poll(() => page.evaluate('document.documentElement.dataset.font')).toBe('');
    await settled(page);
    const { paintedAt, fonts, moved } = await page.evaluate(paintOf);
    expect(fonts).toHaveLength(1);
    expect(fonts[0]).toBeGreaterThan(paintedAt);
    expect(moved).toBeLessThan(0.001);
    await context.close();
  });

  it('takes 20,000 events without a long task, on the overview, the list of devices and Activity', async () => {
    const [{ deviceId }] = (await fleet(daemon, 'SHOWN', 1, 1)) as [FleetDevice];
    const tabs = await Promise.all(
      ['', 'devices?manufacturer=SHOWN', 'activity'].map(async place => {
        const tab = await openTab({ place });
        await tab.page.getByText('live', { exact: true }).waitFor();
        await settled(tab.page);
        return tab;
      }),
    );
    const [overview, devices, activity] = tabs.map(({ page }) => page) as [Page, Page, Page];
    const longest = await longestTask(overview, async () => {
      for (const name of ['MANY', 'MORE']) await fleet(daemon, name, 10_000);
      data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'the last event' }));
      for (const page of [overview, activity]) await page.getByText('the last event').first().waitFor();
      await row(devices, deviceId).getByText('locked').waitFor();
    });
    expect(longest).toBeLessThanOrEqual(LONGEST_TASK_MS);
    for (const { context } of tabs) await context.close();
  }, 120_000);

  it('reads, checks and saves 100,000 lines of an import without a long task', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'devmgr-lines-'));
    const file = join(folder, 'keys.csv');
    const lines = Array.from({ length: 100_000 }, (_, i) => `LINE-${i},UKEY,Acme,One,7\n`);
    writeFileSync(file, `serialNumber,type,manufacturer,model,tag:lot\n${lines.join('')}`);
    const { page, context } = await openTab({ place: 'import' });
    await page.getByLabel('File', { exact: true }).waitFor();
    const longest = await longestTask(page, async () => {
      await page.getByLabel('File', { exact: true }).setInputFiles(file);
      await page.getByRole('table', { name: 'Columns' }).waitFor();
      await button(page, 'Check the file').click();
      await button(page, 'Register 100,000 devices').waitFor();
      const saved = page.waitForEvent('download');
      await button(page, 'Download results (CSV)').click();
      await saved;
      await button(page, 'Register 100,000 devices').click();
      await button(page, 'Stop').click();
      await page.getByText(/devices registered/).waitFor();
    });
    expect(longest).toBeLessThanOrEqual(LONGEST_TASK_MS);
    await context.close();
    rmSync(folder, { recursive: true });
  }, 300_000);
});

/** An event of a trace of Chromium. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Milliseconds of processor time of the longest task of the page during `work`. */
async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const tools = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  tools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await tools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', '__metadata'] },
  });
  try {
    await work();
  } finally {
    const complete = new Promise(resolve => tools.once('Tracing.tracingComplete', resolve));
    await tools.send('Tracing.end');
    await complete;
  }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const main = new Set(events.filter(({ args }) => args.name === 'CrRendererMain').map(threadOf));
  const tasks = events.filter(event => event.name.endsWith('RunTask') && main.has(threadOf(event)));
  expect(tasks.length).toBeGreaterThan(100);
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
}

/**
 * Runs in the page: when it was first painted, when each font was requested (milliseconds), and how much has moved (as the metric
 * CLS has it).
 */
async function paintOf(): Promise<{ paintedAt: number; fonts: readonly number[]; moved: number }> {
  const page = globalThis as unknown as PageGlobals;
  const [painted] = performance.getEntriesByName('first-contentful-paint');
  const fonts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.woff2'));
  const moved = await new Promise<number>(resolve => {
    const observer = new page.PerformanceObserver(list =>
      resolve(list.getEntries().reduce((sum, { value = 0 }) => sum + value, 0)),
    );
    observer.observe({ type: 'layout-shift', buffered: true });
    // There may be no shift, but always a paint: it calls the observer.
    observer.observe({ type: 'paint', buffered: true });
  });
  return { paintedAt: painted?.startTime ?? 0, fonts: fonts.map(({ startTime }) => startTime), moved };
}

/** The time that drawing the page took. */
interface Drawn {
  /** The most elements at once. */
  most: number;
  /** Names of the formatters of Intl that were made. */
  formatters: string[];
}

/** Runs in the page, before its own code. */
function watchDrawing(): void {
  const page = globalThis as unknown as Drawn & PageGlobals;
  page.most = 0;
  page.formatters = [];
  for (const name of ['DateTimeFormat', 'NumberFormat', 'RelativeTimeFormat'] as const)
    Reflect.set(
      Intl,
      name,
      new Proxy(Intl[name], {
        construct(target, args) {
          page.formatters.push(name);
          return Reflect.construct(target, args);
        },
      }),
    );
  new page.MutationObserver(changes => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    const count = added.reduce((sum, node) => sum + 1 + (node.querySelectorAll?.('*').length ?? 0), 0);
    page.most = Math.max(page.most, count);
  }).observe(page.document, { childList: true, subtree: true });
}

/** The parts of the browser that these functions use: the types of this project are those of Node. */
interface PageGlobals {
  readonly document: object;
  readonly PerformanceObserver: new (
    seen: (list: { getEntries(): readonly { readonly value?: number }[] }) => void,
  ) => { observe(options: object): void };
  readonly MutationObserver: new (
    seen: (
      changes: readonly {
        readonly addedNodes: Iterable<{ querySelectorAll?(of: string): { readonly length: number } }>;
      }[],
    ) => void,
  ) => { observe(target: object, options: object): void };
}
