import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startBrowser } from '../support/chromium.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';

needs('chromium')('Swagger UI in a real browser', () => {
  let daemon: TestDaemon;
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    daemon = await startTestDaemon();
    browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    page.on('request', request => requested.push(request.url()));
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', error => complaints.push(error.message));
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.stop();
  });

  it('authorizes with a token, registers a device and finds it in the list; no request goes elsewhere', async () => {
    await page.goto(`${daemon.url}/api/swagger-ui.html`);
    await page.getByText('Device Management and Access Service').waitFor();
    await authorise(page, daemon.adminToken);

    const registered = await execute(page.locator('#operations-Devices-registerDevice'));
    expect(registered).toMatchObject({ code: 200, data: { deviceId: 'DEV-1', serialNumber: 'UK-2026-000001' } });
    const listed = await execute(page.locator('#operations-Devices-listDevices'));
    expect(listed).toMatchObject({ code: 200, data: { list: [{ deviceId: 'DEV-1' }], pagination: { total: 1 } } });
    expect((await daemon.call('GET', '/api/devices/DEV-1')).data.serialNumber).toBe('UK-2026-000001');
    if (process.env.DEVMGR_SCREENSHOT) await page.screenshot({ path: process.env.DEVMGR_SCREENSHOT, fullPage: true });

    expect(requested.length).toBeGreaterThan(4);
    expect(requested.filter(url => !url.startsWith(`${daemon.url}/`) && !url.startsWith('data:'))).toEqual([]);
    // A request that the policy of the page blocked would be among them.
    expect(complaints).toEqual([]);
  });
});

needs('chromium')('a login on the page', () => {
  it('authorizes the requests after it', async () => {
    const daemon = await startTestDaemon({ console: false });
    const browser = await startBrowser();
    onTestFinished(async () => {
      await browser.close();
      await daemon.stop();
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    await page.goto(`${daemon.url}/`);
    await page.getByText('Device Management and Access Service').waitFor();
    expect(new URL(page.url()).pathname).toBe('/api/swagger-ui.html');
    const login = page.locator('#operations-Authentication-login');
    const body = JSON.stringify({ username: 'admin', password: adminPassword });
    expect(await execute(login, body)).toMatchObject({ code: 200 });
    expect(await execute(page.locator('#operations-Devices-listDevices'))).toMatchObject({ code: 200 });
  });
});

async function authorise(page: Page, token: string): Promise<void> {
  await page.locator('button.authorize').first().click();
  const dialog = page.locator('.dialog-ux');
  await dialog.locator('#auth-bearer-value').fill(token);
  await dialog.getByRole('button', { name: 'Apply credentials' }).first().click();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

/** Groups of operations start closed. */
async function openGroupOf(operation: Locator): Promise<void> {
  const group = /#operations-(\w+)-/.exec(String(operation))![1]!;
  await operation.page().locator(`#operations-tag-${group}`).click();
}

/** Opens an operation, sends its example or this body, and reads the response on the page. */
async function execute(operation: Locator, body?: string): Promise<unknown> {
  if (!(await operation.isVisible())) await openGroupOf(operation);
  await operation.locator('.opblock-summary-control').click();
  if (body !== undefined) await operation.locator('textarea.body-param__text').fill(body);
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response .highlight-code code').first();
  await answer.waitFor();
  return JSON.parse((await answer.textContent()) ?? '');
}
