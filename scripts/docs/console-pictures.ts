// `npm run docs:pictures`: each page of the console, light and dark, of a daemon with made-up devices. Needs chromium.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'dist/devmgr.cjs');
const images = join(root, 'docs/images');
const home = mkdtempSync(join(tmpdir(), 'devmgr-console-pictures-'));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  DEVMGR_HOME: home,
  DEVMGR_NO_KEYCHAIN: '1',
  DEVMGR_LIMIT_LOGIN: 'off',
  DEVMGR_LIMIT_MODIFY: 'off',
  DEVMGR_LIMIT_QUERY: 'off',
};
const devmgr = (...args: string[]) =>
  execFileSync(process.execPath, [program, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Pages, by the name of their picture. */
const places = {
  overview: '',
  devices: 'devices',
  device: 'devices/DEV-8',
  bench: 'bench',
  activity: 'activity',
  packages: 'packages',
  users: 'users',
  tokens: 'tokens',
} as const;

mkdirSync(images, { recursive: true });
try {
  devmgr('daemon', 'start', '--port', '0', '--simulate-keys', '1');
  devmgr('login', 'admin', '--password-file', join(home, 'initial-admin-password'));
  const { url } = JSON.parse(devmgr('daemon', 'status', '--json')) as { url: string };
  await fill(url);
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    for (const [name, place] of Object.entries(places))
      for (const scheme of ['light', 'dark'] as const) await picture(browser, url, { name, place, scheme });
  } finally {
    await browser.close();
  }
} finally {
  devmgr('daemon', 'stop');
  rmSync(home, { recursive: true, force: true });
}

interface Shown {
  readonly name: string;
  readonly place: string;
  readonly scheme: 'light' | 'dark';
}

/** Each picture is of a session that a code has opened. */
async function picture(browser: Browser, url: string, { name, place, scheme }: Shown): Promise<void> {
  const { address } = JSON.parse(devmgr('open', '--no-browser', '--json')) as { address: string };
  const code = new URLSearchParams(new URL(address).hash.slice(1)).get('code') ?? '';
  const context = await browser.newContext({
    viewport: { width: 1100, height: 760 },
    colorScheme: scheme,
    locale: 'en-US',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  await page.goto(`${url}/console/#${new URLSearchParams({ code, page: place })}`);
  await page.getByText('live', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(images, `console-${name}-${scheme}.png`) });
  await context.close();
}

interface Made {
  readonly deviceId: string;
  readonly activationCode: string;
  readonly token: string;
}

/** Devices of several makers in all states, users and tokens. */
async function fill(url: string): Promise<void> {
  let token = '';
  const post = async (path: string, body: unknown) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const envelope = (await response.json()) as { message: string; data: Made };
    if (!response.ok) throw new Error(`${path}: ${envelope.message}`);
    return envelope.data;
  };
  const password = readFileSync(join(home, 'initial-admin-password'), 'utf8').trim();
  token = (await post('/api/auth/login', { username: 'admin', password })).token;
  const models = [
    ['UKEY', 'Yubico', 'YubiKey 5 NFC'],
    ['UKEY', 'Nitrokey', 'Nitrokey 3A NFC'],
    ['SIMKEY', 'Giesecke+Devrient', 'SIM key'],
  ] as const;
  for (let i = 0; i < 130; i++) {
    const [deviceType, manufacturer, model] = models[i % models.length]!;
    const tags = i % 4 === 0 ? { lot: '7', station: 'line-3' } : {};
    const serialNumber = deviceType === 'UKEY' ? `${24_018_300 + 17 * i}` : `898600000000047${11_000 + i}`;
    const device = await post('/api/devices/register', { deviceType, serialNumber, manufacturer, model, tags });
    if (i % 2 === 0) continue;
    await post('/api/devices/activate', { ...device, userId: `user-${100 + i}` });
    if (i % 7 === 0) await post(`/api/devices/${device.deviceId}/lock`, { reason: 'reported as lost' });
  }
  for (const [username, role] of [
    ['maria', 'DEALER'],
    ['auditor', 'VIEWER'],
  ])
    await post('/api/users', { username, role, password: 'picture of the console' });
  await post('/api/tokens', { name: 'line-3', role: 'DEALER', expiresInDays: 90 });
}
