/**
 * Presses that were meant for another page approve nothing. The other page is at another port and name of this machine, so it is
 * another site.
 */
import { createServer } from 'node:http';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { listening } from '../support/http-servers.ts';
import { needs } from '../support/needs.ts';
import { choose, consoleTests, openConsole, settled, startBrowser, violationsOn } from './browser.ts';

const approve = 'This is my terminal: sign it in';
const codeField = 'Code shown by the terminal';

/** A terminal that waits for an approval. */
async function terminal(daemon: TestDaemon) {
  const { data } = await daemon.call('POST', '/api/auth/terminal', { name: 'mallory@elsewhere' }, { token: null });
  const { requestId, secret, userCode } = data;
  const state = async () =>
    (await daemon.call('POST', '/api/auth/terminal/token', { requestId, secret }, { token: null })).data.state;
  return { userCode: userCode as string, state };
}

/** A page of another site, with `script` in it. */
async function stranger(script: string): Promise<string> {
  const page = `<!doctype html><title>prize</title><body style="height:100vh"><script>${script}</script>`;
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(page));
  const { url } = await listening(server);
  return url.replace('127.0.0.1', 'localhost');
}

/** The window that a press in the page of the stranger opens. */
async function openedBy(page: Page, context: BrowserContext): Promise<Page> {
  const opened = context.waitForEvent('page');
  await page.mouse.click(200, 200);
  return opened;
}

/** The second click of a double click, on what would approve if there is such a thing. */
async function secondClick(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in a terminal' }).waitFor();
  const target = page.getByRole('button', { name: approve }).or(page.getByLabel(codeField));
  const { x, y } = (await target.boundingBox())!;
  await page.mouse.click(x + 5, y + 5);
}

const approvalsOf = (page: Page) => {
  const sent: string[] = [];
  page.on('request', request => request.url().endsWith('/terminal/approve') && sent.push(request.url()));
  return sent;
};

needs('chromium')('an approval in the console', () => {
  const { daemon, openTab } = consoleTests();

  /** The question about a terminal, a moment after it appeared. The clock of the page is stopped. */
  async function question(options: Parameters<typeof openTab>[0] = {}) {
    const waiting = await terminal(daemon);
    const tab = await openTab({ ...options, place: `terminal?code=${waiting.userCode}` });
    const { page } = tab;
    await page.clock.install();
    await page.reload();
    await page.locator('form input').waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    const sent = approvalsOf(page);
    await page.locator('form input').fill(waiting.userCode);
    await page.keyboard.press('Enter');
    const button = page.locator('main button.main');
    await button.waitFor();
    return { ...tab, ...waiting, sent, button, note: page.locator('.approval') };
  }
  const armed = (button: ReturnType<Page['locator']>) => button.and(button.page().locator(':not([aria-disabled])'));

  it('is not given by a double click in a window that another site leads here between the clicks', async () => {
    const { userCode, state } = await terminal(daemon);
    const { context, page } = await openTab();
    const place = JSON.stringify(`${daemon.url}/console/#/terminal?code=${userCode}`);
    const popup = `onpointerdown = () => location.replace(${place})`;
    await page.goto(
      await stranger(`if (opener) ${popup}; else onclick = () => open(location.href, 'prize', 'popup,width=900')`),
    );
    const opened = await openedBy(page, context);
    await opened.waitForLoadState();
    const sent = approvalsOf(opened);
    await opened.mouse.click(200, 200);
    await secondClick(opened);
    await opened.keyboard.press('Enter');
    expect([await state(), sent]).toEqual(['PENDING', []]);
    await context.close();
  });

  it('is cut off from a page that opened the tab: its handle is closed, and the tab has no name', async () => {
    const { context, page } = await openTab();
    const place = JSON.stringify(`${daemon.url}/console/#/devices`);
    await page.goto(await stranger(`onclick = () => { handle = open(${place}, 'registry') }`));
    const opened = await openedBy(page, context);
    await opened.getByRole('heading', { name: 'Devices' }).waitFor();
    expect(await page.evaluate('handle.closed')).toBe(true);
    expect(await opened.evaluate('[window.name, opener]')).toEqual(['', null]);
    await context.close();
  });

  it('arms after a second, reports this once, and a click before that counts for nothing', async () => {
    const { page, context, button, note, sent, state, complaints } = await question();
    await note.getByText('You can confirm one second after this window').waitFor();
    expect(await button.getAttribute('aria-describedby')).toBe(await note.getAttribute('id'));
    expect(await note.getAttribute('role')).toBe('status');
    await page.evaluate(`
      changes = [];
      new MutationObserver(list => changes.push(...list.map(({ type }) => type)))
        .observe(document.querySelector('.approval'), { subtree: true, childList: true, characterData: true, attributes: true });
    `);
    await button.click({ force: true });
    await page.clock.runFor(999);
    await button.click({ force: true });
    expect([await page.evaluate('changes'), sent]).toEqual([[], []]);
    await page.clock.runFor(1);
    await armed(button).waitFor();
    expect(await note.getByText('You can confirm').isVisible()).toBe(false);
    await button.click();
    await page.getByText('The terminal is signed in.').waitFor();
    expect([await state(), complaints]).toEqual(['APPROVED', []]);
    await context.close();
  });

  it.each(['blur', 'visibilitychange'])('starts its second again at %s', async event => {
    const { page, context, button } = await question();
    await page.clock.runFor(1000);
    await armed(button).waitFor();
    const isHidden = event === 'visibilitychange';
    const leave = (name: string, hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'visibilityState', { value: '${hidden ? 'hidden' : 'visible'}', configurable: true });
        document.dispatchEvent(new Event('${name}', { bubbles: true }));
      `);
    await leave(event, isHidden);
    await page.locator('button[aria-disabled]').waitFor();
    await page.clock.runFor(5000);
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await leave(isHidden ? event : 'focus', false);
    await page.clock.runFor(999);
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.clock.runFor(1);
    await armed(button).waitFor();
    await context.close();
  });

  it('ignores a pointer that was pressed before it was armed or beside it, and events that a script makes', async () => {
    const { page, context, button, sent, state } = await question();
    const { x, y } = (await button.boundingBox())!;
    await page.mouse.move(x + 5, y + 5);
    await page.mouse.down();
    await page.clock.runFor(1000);
    await armed(button).waitFor();
    await page.mouse.up();
    await page.mouse.move(x + 5, y - 15);
    await page.mouse.down();
    await page.mouse.move(x + 5, y + 5);
    await page.mouse.up();
    await button.dispatchEvent('pointerdown', { pointerId: 1, isPrimary: true, button: 0 });
    await button.dispatchEvent('pointerup', { pointerId: 1 });
    await button.dispatchEvent('click', { detail: 1 });
    await button.evaluate(element => (element as unknown as { click(): void }).click());
    expect([await state(), sent]).toEqual(['PENDING', []]);
    await page.mouse.click(x + 5, y + 5);
    await page.getByText('The terminal is signed in.').waitFor();
    expect(await state()).toBe('APPROVED');
    await context.close();
  });

  it.each(['Enter', 'Space'])('ignores %s that is held down since before, and then works by keyboard', async key => {
    const { page, context, button, sent, state } = await question();
    await page.getByRole('heading', { name: 'Sign in a terminal' }).click();
    await page.keyboard.down(key);
    await page.clock.runFor(1000);
    await armed(button).waitFor();
    await button.focus();
    // The browser repeats a key that is held.
    await page.keyboard.down(key);
    await page.keyboard.down(key);
    await page.keyboard.up(key);
    expect([await state(), sent]).toEqual(['PENDING', []]);
    await page.keyboard.press(key);
    await page.getByText('The terminal is signed in.').waitFor();
    expect(sent).toHaveLength(1);
    await context.close();
  });

  it('needs the code of the terminal: a link with the code shows neither the code nor the terminal', async () => {
    const { userCode } = await terminal(daemon);
    const { page, context } = await openTab({ place: `terminal?code=${userCode}` });
    await page.getByLabel(codeField).waitFor();
    await settled(page);
    expect(await page.getByText(userCode).count()).toBe(0);
    expect(await page.getByLabel(codeField).inputValue()).toBe('');
    expect(await page.getByRole('button', { name: approve }).count()).toBe(0);
    await page.getByLabel(codeField).fill(userCode);
    await page.keyboard.press('Enter');
    await page.getByText('mallory@elsewhere').waitFor();
    await page.getByLabel(codeField).fill(userCode.slice(1));
    await page.getByText('mallory@elsewhere').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: approve }).count()).toBe(0);
    await context.close();
  });

  it('of a form takes no Enter that is held since before, and no Enter in the first second', async () => {
    const { id } = await daemon.user('idle', 'ADMIN');
    await daemon.call('PUT', `/api/users/${id}`, { disabled: true });
    const { page, context } = await openTab({ place: 'users' });
    const disabled = async () =>
      (await daemon.call('GET', '/api/users/list?size=100')).data.list.find((user: { id: string }) => user.id === id)
        .disabled;
    await page.clock.install();
    await page.reload();
    await choose(page, 'idle', 'Enable');
    const submit = page.getByRole('dialog').getByRole('button', { name: 'Enable' });
    await submit.waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.evaluate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event('focus')));
    await page.locator('dialog button[aria-disabled]').waitFor();
    await submit.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.down('Enter');
    await page.clock.runFor(1000);
    await armed(submit).waitFor();
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await disabled()).toBe(true);
    await page.keyboard.press('Enter');
    // A toast takes time to appear.
    await page.clock.resume();
    await page.getByText('idle is enabled.').waitFor();
    expect(await disabled()).toBe(false);
    await context.close();
  });

  it.each(['en-US', 'de-DE'])('is accessible and fits in 360 pixels: %s', async locale => {
    const { page, context, button, note } = await question({ locale, viewport: { width: 360, height: 740 } });
    const before = await button.boundingBox();
    await page.clock.runFor(1000);
    await armed(button).waitFor();
    expect(await button.boundingBox()).toEqual(before);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    expect(await note.textContent()).toMatch(locale === 'en-US' ? /^You can confirm/ : /^Sie können bestätigen/);
    await page.clock.resume();
    expect(await violationsOn(page)).toEqual([]);
    await page.evaluate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event('blur')));
    await page.locator('button[aria-disabled]').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });
});

needs('chromium')('an approval on plain HTTP to another machine, where browsers ignore the policy for openers', () => {
  const { daemon } = consoleTests({ allowHost: ['console.test'] });

  it('is not given in a tab that a page of another site opened and can navigate', async () => {
    const browser = await startBrowser(['--host-resolver-rules=MAP console.test 127.0.0.1']);
    onTestFinished(() => browser.close());
    const { userCode, state } = await terminal(daemon);
    const { page, context } = await openConsole(browser, daemon, { host: 'console.test' });
    const place = `${daemon.url.replace('127.0.0.1', 'console.test')}/console/`;
    await page.goto(await stranger(`onclick = () => { handle = open('${place}', 'registry') }`));
    const opened = await openedBy(page, context);
    await opened.getByRole('heading', { name: 'Overview' }).waitFor();
    const sent = approvalsOf(opened);
    await page.evaluate(`handle.location = '${place}#/terminal?code=${userCode}'`);
    await secondClick(opened);
    expect([await state(), sent]).toEqual(['PENDING', []]);
    expect(await opened.evaluate('window.name')).toBe('');
    // Loaded again, the tab has no opener, and the other page may still have its handle.
    await opened.goto(`${place}#/terminal`);
    await opened.reload();
    await opened.getByLabel(codeField).fill(userCode);
    await opened.keyboard.press('Enter');
    await opened.getByText('Open the console in a new tab.').waitFor();
    await opened.getByRole('button', { name: approve }).click({ force: true });
    expect([await state(), sent]).toEqual(['PENDING', []]);
  });
});
