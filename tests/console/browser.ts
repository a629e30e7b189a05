/** The console in a real browser, against a daemon of the test. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { TestDaemon } from '../support/daemon.ts';
import { findTool } from '../support/needs.ts';

const root = join(import.meta.dirname, '..', '..');
const made = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, encoding: 'utf8' });
if (made.status !== 0) throw new Error(`the console could not be built:\n${made.stderr}`);

/** Runs in the page before its own code, where the policy of the page does not apply. */
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Stops the browser's own requests; root cannot use its sandbox. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium; the caller closes it. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findTool('chromium') ?? '/usr/bin/chromium', args });

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
  /** Place that the tab shows first. */
  readonly place?: string;
}

/** Opens the console in a context of its own, signed in. */
export async function openConsole(browser: Browser, daemon: TestDaemon, options: TabOptions = {}): Promise<ConsoleTab> {
  const { token = daemon.adminToken, place = '', ...contextOptions } = options;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    ...contextOptions,
  });
  await context.addInitScript({ path: axe });
  const page = await context.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', request => requested.push(request.url()));
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  if (token !== null) await signIn(context, daemon, token);
  await page.goto(`${daemon.url}/console/#/${place}`);
  return {
    page,
    context,
    requested,
    complaints,
    async show(next) {
      await page.goto(`${daemon.url}/console/#/${next}`);
    },
  };
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

/** What axe-core finds on the page: rule and element. */
export const violationsOn = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
