// `npm run docs:pictures`: what is looked at rather than read. An enrolment on a real terminal (tmux), with cards in the virtual reader
// of a real pcscd; and Swagger UI in a real browser. Wants tmux, pcscd, vsmartcard-vpcd and chromium.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { startPcscd } from '../../tests/support/pcscd.ts';
import { type CardProgram, muteCard, uicc } from '../../tests/support/vcard-programs.ts';
import { screenAsSvg } from './svg.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'dist/devmgr.cjs');
const images = join(root, 'docs/images');
const folder = mkdtempSync(join(tmpdir(), 'devmgr-pictures-'));
const home = join(folder, 'home');
const socket = join(folder, 'tmux');
mkdirSync(home);
mkdirSync(images, { recursive: true });

const pcscd = await startPcscd();
const env = {
  PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  ...pcscd.env,
};
writeFileSync(join(folder, 'devmgr'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
const devmgr = (...args: string[]) =>
  execFileSync('devmgr', args, { env, cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const tmux = (...args: string[]) =>
  execFileSync('tmux', ['-f', '/dev/null', '-S', socket, ...args], { env, cwd: home, encoding: 'utf8' });

try {
  devmgr('daemon', 'start', '--port', '0');
  const password = join(home, '.local/share/devmgr/initial-admin-password');
  devmgr('login', 'admin', '--password-file', password);
  await enrolment();
  await swagger(JSON.parse(devmgr('daemon', 'status', '--json')).url);
} finally {
  devmgr('daemon', 'stop');
  await pcscd.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function enrolment(): Promise<void> {
  tmux('new-session', '-d', '-x', '92', '-y', '40', 'bash --norc');
  try {
    tmux('send-keys', "PS1='$ '; clear", 'Enter');
    tmux('send-keys', 'devmgr enroll --activate-for alice --out box-7.csv', 'Enter');
    await shows('Plug in a key');
    await insert(uicc({ iccid: iccid(1) }), '1 done');
    await insert(uicc({ iccid: iccid(2) }), '2 done');
    await insert(muteCard(), 'failed');
    await insert(uicc({ iccid: iccid(3) }), '3 done');
    await insert(uicc({ iccid: iccid(1) }), 'again');
    const screen = tmux('capture-pane', '-e', '-p');
    tmux('send-keys', 'C-c');
    await shows('keys handled');
    const title =
      'devmgr enroll: cards are registered and activated one after the other; a card that does not respond is explained, a registered one recognized';
    writeFileSync(join(images, 'enroll.svg'), screenAsSvg(screen, title));
  } finally {
    tmux('kill-server');
  }
}

/** Puts a card in, waits for the words, takes it out. */
async function insert(card: CardProgram, words: string): Promise<void> {
  const before = count(words);
  const inserted = await pcscd.insert(card);
  await shows(words, before);
  await inserted.remove();
  // The virtual reader looks for its card now and then, and is to see that it is gone.
  await pause(1500);
}

function count(words: string): number {
  return tmux('capture-pane', '-p').split(words).length - 1;
}

async function shows(words: string, moreThan = 0): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (count(words) <= moreThan) {
    if (Date.now() > deadline) throw new Error(`the terminal never showed "${words}":\n${tmux('capture-pane', '-p')}`);
    await pause(50);
  }
  // Text of the same line of the story is written at once after it.
  await pause(300);
}

/** An ICCID of a fictitious operator, with its check digit. */
function iccid(number: number): string {
  const digits = `89860000000004711${number}`;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return digits + ((10 - (sum % 10)) % 10);
}

async function swagger(url: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 900, height: 720 } });
    await page.goto(`${url}/api/swagger-ui.html`);
    await page.locator('#operations-tag-Devices').click();
    const operation = page.locator('#operations-Devices-registerDevice');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).waitFor();
    await page.locator('#operations-tag-Devices').evaluate(section => section.scrollIntoView());
    await page.screenshot({ path: join(images, 'swagger-ui.png') });
  } finally {
    await browser.close();
  }
}
