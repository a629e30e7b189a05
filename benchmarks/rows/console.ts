/** The console in Chromium: how soon each page is there at the large size, and what a batch costs an open page. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Bench } from '../bench.ts';
import { sample } from '../fill.ts';
import { type BenchDaemon, settled, startDaemon } from '../processes.ts';
import { bound, type Row } from '../report.ts';

const executablePath = '/usr/bin/chromium';
/** Registrations of the batch that an open page sees. */
const BATCH = 10_000;

/** Pages, with what they show at the large size. */
const places = (devices: number): Readonly<Record<string, string>> => ({
  Overview: '',
  Devices: 'devices',
  'Devices, found by a serial': `devices?keyword=${sample(Math.ceil(devices / 3)).serialNumber}`,
  'Devices, filtered and sorted': 'devices?status=ACTIVE&deviceType=UKEY&sortBy=serialNumber&sortOrder=asc',
  'Devices, page 100': 'devices?page=100',
  'one device': `devices/DEV-${Math.ceil(devices / 2)}`,
  Station: 'station',
  Activity: 'activity',
  Packages: 'packages',
  Users: 'users',
  Tokens: 'tokens',
});

/** Pages that are measured on a processor that is four times slower. */
const slowPlaces = { Overview: '', Devices: 'devices' } as const;

/** Rows of the console; none without Chromium. */
export async function* consoleRows(bench: Bench): AsyncGenerator<Row> {
  if (!existsSync(executablePath)) return bench.tell(`no rows of the console: ${executablePath} is missing`);
  const daemon = await startDaemon(await bench.home(bench.devices));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await settled(daemon.pid);
    // The first page of a browser and of a daemon pays for what both load once.
    await timeOf(browser, daemon, '');
    for (const [name, place] of Object.entries(places(bench.devices))) {
      const times: number[] = [];
      for (let i = 0; i < bench.repetitions; i++) times.push(await timeOf(browser, daemon, place));
      yield bound(`console: ${name}`, 'ms until the page is there', times, 1000);
    }
    for (const [name, place] of Object.entries(slowPlaces)) {
      const times: number[] = [];
      for (let i = 0; i < bench.repetitions; i++) times.push(await timeToData(browser, daemon, place));
      yield bound(`console: ${name}, at a quarter of the speed`, 'ms until data is there', times, 1200);
    }
    yield* batchRows(browser, daemon);
  } finally {
    await browser.close();
    await daemon.stop();
  }
}

/** Milliseconds from the navigation to the last change of the page's content, from a browser without cache. */
async function timeOf(browser: Browser, daemon: BenchDaemon, place: string): Promise<number> {
  const page = await open(browser, daemon, place);
  const time = await page.evaluate(() => (globalThis as unknown as Watched).lastChange);
  await page.context().close();
  return time;
}

/** Milliseconds from the navigation until the first figures or rows are drawn, on a slow processor. */
async function timeToData(browser: Browser, daemon: BenchDaemon, place: string): Promise<number> {
  const page = await open(browser, daemon, place, 4);
  await page.locator(DATA).first().waitFor();
  const time = await page.evaluate(() => (globalThis as unknown as Watched).dataAt);
  await page.context().close();
  return time;
}

async function* batchRows(browser: Browser, daemon: BenchDaemon): AsyncGenerator<Row> {
  const page = await open(browser, daemon, '');
  let requests = 0;
  page.on('request', () => requests++);
  const devices = Array.from({ length: BATCH }, (_, i) => ({
    deviceType: 'UKEY',
    serialNumber: `console-${process.pid}-${i}`,
    manufacturer: 'Maker 1',
    model: 'Batch',
  }));
  // The figures are counted again some time after the last event.
  const counted = page.waitForResponse(response => response.url().endsWith('/api/statistics'));
  await daemon.call('POST', '/api/devices/batch-register', { devices });
  await counted;
  await page.waitForLoadState('networkidle');
  const longest = await page.evaluate(() => (globalThis as unknown as Watched).longestTask);
  await page.context().close();
  yield bound(`console: Overview while ${BATCH} devices are registered`, 'ms, the longest task', [longest], 100);
  yield bound(`console: Overview while ${BATCH} devices are registered`, 'requests', [requests], 3);
}

/** The page's measurements of itself. */
interface Watched {
  /** Milliseconds from the navigation to the last change below the header. */
  lastChange: number;
  /** Milliseconds from the navigation until the first data was in the page; 0 before. */
  dataAt: number;
  /** Milliseconds of the longest task of the main thread; those below 50 count as 0. */
  longestTask: number;
}

/** The figures of the overview, the rows of a list. */
const DATA = 'main .figures li, main tbody tr';

/** Opens a page signed in, on a processor that is `slower` times slower, and waits until it is complete. */
async function open(browser: Browser, daemon: BenchDaemon, place: string, slower = 1): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const session = {
    token: daemon.token,
    expireTime: new Date(Date.now() + 3_600_000).toISOString(),
    user: { id: 'USR-1', username: 'admin', role: 'ADMIN', email: null },
  };
  await context.addInitScript(watch, [JSON.stringify(session), DATA] as const);
  const page = await context.newPage();
  const tools = await context.newCDPSession(page);
  await tools.send('Emulation.setCPUThrottlingRate', { rate: slower });
  await page.goto(`${daemon.url}/console/#/${place}`);
  // First, so that the search for the title does not take the time of the page: at a quarter of the speed it takes 0.2 s.
  await page.waitForLoadState('networkidle');
  await page.locator('main h1').waitFor();
  return page;
}

/** Runs in the page, before its own code. */
function watch([session, data]: readonly [session: string, data: string]): void {
  const page = globalThis as unknown as Watched & PageGlobals;
  page.sessionStorage.setItem('devmgr.session', session);
  page.lastChange = 0;
  page.dataAt = 0;
  page.longestTask = 0;
  new page.MutationObserver(changes => {
    if (changes.some(({ target }) => !target.parentElement?.closest('header'))) page.lastChange = performance.now();
    if (page.dataAt === 0 && page.document.querySelector(data)) page.dataAt = performance.now();
  }).observe(page.document, { childList: true, subtree: true, characterData: true });
  new page.PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) page.longestTask = Math.max(page.longestTask, duration);
  }).observe({ entryTypes: ['longtask'] });
}

/** The parts of the browser that `watch` uses: the types of this project are those of Node. */
interface PageGlobals {
  readonly sessionStorage: { setItem(name: string, value: string): void };
  readonly document: { querySelector(selector: string): object | null };
  readonly MutationObserver: new (
    seen: (
      changes: { readonly target: { readonly parentElement: { closest(of: string): object | null } | null } }[],
    ) => void,
  ) => { observe(target: object, options: object): void };
  readonly PerformanceObserver: new (
    seen: (list: { getEntries(): { readonly duration: number }[] }) => void,
  ) => { observe(options: object): void };
}
