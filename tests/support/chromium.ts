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

/** Starts Chromium; the caller closes it. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findTool('chromium') ?? '/usr/bin/chromium', args });
