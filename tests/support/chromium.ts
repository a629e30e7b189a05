import { type Browser, chromium } from 'playwright-core';
import { findTool } from './needs.ts';

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

/** The engine of Chromium without the windows, extensions and services of Chromium: a page takes a quarter of the processor time. */
const shell = 'chromium-headless-shell';

/** Starts Chromium, without its windows if that program is installed; the caller closes it. */
export const startBrowser = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: findTool(shell) ?? findTool('chromium') ?? '/usr/bin/chromium',
    args: [...args, ...more],
  });
