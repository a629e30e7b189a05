/** The console in a real browser, against a daemon of the test. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
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
  /** Name of the machine in the address; keys work at `localhost` and not at an IP address. */
  readonly host?: string;
  /** Place that the tab shows first. */
  readonly place?: string;
}

/** What the tests of a group share. */
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
  const { token = daemon.adminToken, place = '', host = '127.0.0.1', ...contextOptions } = options;
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
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  if (token !== null) await signIn(context, daemon, token);
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

/** What a user of a role without the page finds: the words in its place, links to it, and requests of it. */
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
async function signIn(context: BrowserContext, daemon: TestDaemon, token: string): Promise<void> {
  const me = await daemon.call('GET', '/api/users/me', undefined, { token });
  const { id, username, role, email } = me.data;
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
/** The row of a table that names a record. */
export const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
/** Waits until a page reports something. */
export const status = (page: Page, words: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: words }).waitFor();

/** Waits until the dialog takes an answer: a second after it appeared. */
export const armed = (page: Page): Promise<void> => page.locator('dialog[open]:not(:has([aria-disabled]))').waitFor();

/** What axe-core finds on the page: rule and element. */
export async function violationsOn(page: Page): Promise<string[]> {
  // A script of the tools: the policy of the page does not apply to it.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
