/** The console in a real browser, against a daemon of the test. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { DaemonSettings } from '../../daemon/home/settings.ts';
import { startBrowser } from '../support/chromium.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export { startBrowser };

/** A tab of the console, and what went on in it. */
export interface ConsoleTab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Addresses of all requests, in order. */
  readonly requested: string[];
  /** Errors on the console of the browser, messages of its policies among them, and exceptions of the page. */
  readonly complaints: string[];
  /** Shows a place such as `devices?status=LOCKED`. */
  show(place: string): Promise<void>;
}

interface TabOptions extends BrowserContextOptions {
  /** The token of the session; null for none, the administrator's if absent. */
  readonly token?: string | null;
  /** Whose token it is. If absent, the daemon is asked, which does not answer a HOLDER. */
  readonly user?: object;
  /** Name of the machine in the address; keys work at `localhost` and not at an IP address. */
  readonly host?: string;
  /** Place that the tab shows first. */
  readonly place?: string;
}

/** The state that the tests of a group share. */
export interface ConsoleTests {
  readonly daemon: TestDaemon;
  /** Opens the console of `daemon`, or of another one. */
  openTab(options?: TabOptions & { readonly daemon?: TestDaemon }): Promise<ConsoleTab>;
}

/** A daemon and a browser that the tests of a group share: they start before its first test, and end after its last. */
export function consoleTests(settings: Partial<DaemonSettings> = {}): ConsoleTests {
  const own = daemonOfTests(settings);
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return {
    daemon: own,
    openTab: ({ daemon = own, ...options } = {}) => openConsole(browser, daemon, options),
  };
}

/** Opens the console in a context of its own, signed in. */
export async function openConsole(browser: Browser, daemon: TestDaemon, options: TabOptions = {}): Promise<ConsoleTab> {
  const { token = daemon.adminToken, user, place = '', host = '127.0.0.1', ...contextOptions } = options;
  const url = daemon.url.replace('127.0.0.1', host);
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    ...contextOptions,
  });
  const page = await context.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', request => requested.push(request.url()));
  followTraffic(page);
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  if (token !== null) await signIn(context, daemon, token, user);
  await page.goto(`${url}/console/#/${place}`);
  return {
    page,
    context,
    requested,
    complaints,
    async show(next) {
      await page.goto(`${url}/console/#/${next}`);
    },
  };
}

/** Requests of each page that are not answered yet. */
const traffic = new WeakMap<Page, Set<Request>>();

function followTraffic(page: Page): void {
  const open = new Set<Request>();
  traffic.set(page, open);
  page.on('request', request => {
    // Responses that the page before had not received are no longer reported.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) open.clear();
    open.add(request);
  });
  page.on('requestfinished', request => open.delete(request));
  page.on('requestfailed', request => open.delete(request));
}

/** Script of the page: what is due has run, and the page is drawn. */
const drawn = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(done))))`;

/**
 * Waits until all that a page has requested is there and drawn. `networkidle` of Playwright takes 500 ms longer, and after the
 * first time does not wait for what the same document requests.
 */
export async function settled(page: Page): Promise<void> {
  const open = traffic.get(page)!;
  for (let drawnTwice = 0; drawnTwice < 2; drawnTwice++) {
    await page.evaluate(drawn);
    while (open.size > 0) {
      drawnTwice = 0;
      await page.evaluate(drawn);
    }
  }
}

/** The view of a user whose role does not have the page: the words in its place, links to it, and requests of it. */
export async function withoutPage(
  { daemon, openTab }: ConsoleTests,
  role: 'DEALER' | 'VIEWER',
  { place, link, path }: { readonly place: string; readonly link: string; readonly path: string },
): Promise<{ readonly links: number; readonly requests: readonly string[] }> {
  const { token } = await daemon.user(`plain-${role}`, role);
  const { page, context, requested } = await openTab({ place, token });
  await page.getByText('This page does not exist.').waitFor();
  const links = await page.getByRole('link', { name: link }).count();
  await context.close();
  return { links, requests: requested.filter(url => url.includes(path)) };
}

/** Puts a session where the page looks for that of its tab, once: a sign-out must last. */
async function signIn(context: BrowserContext, daemon: TestDaemon, token: string, user?: object): Promise<void> {
  const { id, username, role, email } = user ?? (await daemon.call('GET', '/api/users/me', undefined, { token })).data;
  const expireTime = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const session = JSON.stringify({ token, expireTime, user: { id, username, role, email } });
  await context.addInitScript(stored => {
    if (sessionStorage.getItem('devmgr.test')) return;
    sessionStorage.setItem('devmgr.test', 'signed in once');
    sessionStorage.setItem('devmgr.session', stored);
  }, session);
}

/** A security key in the browser, with PIN and touch given at once. Returns its credentials and a way to take it out. */
export async function plugSecurityKey(
  page: Page,
): Promise<{ credentials(): Promise<number>; unplug(): Promise<void> }> {
  const tools = await page.context().newCDPSession(page);
  await tools.send('WebAuthn.enable');
  const { authenticatorId } = await tools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'usb',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    credentials: async () => (await tools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
    unplug: async () => void (await tools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })),
  };
}

export const dialog = (page: Page) => page.getByRole('dialog');
export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
/** The button with the name of the person, which opens the menu. */
export const accountButton = (page: Page, name = 'admin') =>
  page.locator('header').getByRole('button', { name, exact: true });
/** The button with the menu of a record. */
export const actionsFor = (page: Page, record: string) =>
  page.getByRole('button', { name: `Actions for ${record}`, exact: true });
/** An item of the open menu. */
export const menuItem = (page: Page, name: string) =>
  page.locator('[role^="menuitem"]').getByText(name, { exact: true });
/** Chooses an action from the menu of a record, by keyboard. */
export async function choose(page: Page, record: string, action: string): Promise<void> {
  // A dialog that Escape closes keeps the page behind it inert until it is drawn again.
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  await actionsFor(page, record).press('Enter');
  await page.locator('.menu:focus').waitFor();
  while ((await page.locator('[data-highlighted]').textContent()) !== action) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}
/** Ends the session in the menu of the person. */
export async function signOut(page: Page, name = 'admin'): Promise<void> {
  await accountButton(page, name).click();
  await menuItem(page, 'Sign out').click();
}
/** The row of a table that names a record. */
export const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
/** Waits until a page reports something. */
export const status = (page: Page, words: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: words }).waitFor();

/** Waits until the dialog takes an answer: a second after it appeared. */
export const armed = (page: Page): Promise<void> => page.locator('dialog[open]:not(:has([aria-disabled]))').waitFor();

/**
 * The findings of axe-core on the page: rule and element. `part`: a selector of what is looked at; `rules`: those that are applied, else
 * all.
 */
export async function violationsOn(
  page: Page,
  { part = 'html', rules }: { readonly part?: string | undefined; readonly rules?: readonly string[] | undefined } = {},
): Promise<string[]> {
  // A script of the tools: the policy of the page does not apply to it.
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(
    async ([part, options]) => {
      const { axe } = globalThis as unknown as {
        axe: { run(part: object, options: object): Promise<{ violations: Violation[] }> };
      };
      const { violations } = await axe.run({ include: [part] }, options);
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    },
    // Without the selectors of all elements that pass, a third faster.
    [part, { resultTypes: ['violations'], selectors: false, ...(rules && { runOnly: rules }) }] as const,
  );
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Script of the page: the name of what has the focus. */
const nameOfFocused = `(control =>
  (control.labels?.[0]?.firstChild ?? control).textContent.trim() ||
  control.ariaLabel || control.labels?.[0]?.textContent.trim())(document.activeElement)`;

/**
 * Presses Tab until the focus is on an element, or on the next control with this name (its label, `aria-label` or text): a person
 * without a pointer reaches it.
 */
export async function tabTo(page: Page, target: string | Locator): Promise<void> {
  const isThere = async () =>
    typeof target === 'string'
      ? (await page.evaluate(nameOfFocused)) === target
      : (await target.and(page.locator(':focus')).count()) > 0;
  if (typeof target !== 'string') await target.waitFor();
  if (typeof target !== 'string' && (await isThere())) return;
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab');
    if (await isThere()) return;
  }
  throw new Error(`Tab does not reach ${target}`);
}
