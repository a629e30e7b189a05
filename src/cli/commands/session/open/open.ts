import { signInCodeSeconds } from '../../../../contract/limits.ts';
import { consolePath } from '../../../../contract/values.ts';
import { sendHttp } from '../../../client/transport.ts';
import { failure, usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { safe } from '../../../terminal/text.ts';
import { consoleAddress } from '../console-address.ts';
import { showInBrowser, whyNoBrowser } from './browser.ts';

/** Opens the console of the server in a browser, signed in as the user of this profile: `POST /api/auth/codes`. */
export const open = command({
  description: `Opens the console of the server in your browser, signed in as you. The browser gets a code that works once, within ${signInCodeSeconds} seconds, from a file that only you can read; the file is then removed.\nWithout a display, or over SSH, it prints an address with the code instead, as --no-browser does. Do not share it: it signs in as you.\nSet BROWSER to use another browser.`,
  args: [{ name: 'PAGE', help: 'page of the console, such as devices or devices?status=LOCKED', optional: true }],
  flags: { 'no-browser': { help: 'print the address, with the code, instead of opening it' } },
  examples: {
    'the console': 'open',
    'a page of it': 'open devices',
    'for a browser that you start yourself': 'open --no-browser',
  },
  async run({ args, flags }, context) {
    const page = readPage(args[0]);
    await demandConsole(context);
    const address = await consoleAddress(context.registry);
    const { code, expireTime } = await newCode(context);
    const target = `${address}#${new URLSearchParams({ code, ...(page && { page }) })}`;
    const reason = flags.browser
      ? (whyNoBrowser(context.env) ?? (await showInBrowser(target, context.env, context.settings.home)))
      : null;
    const opened = flags.browser && reason === null;
    const { out } = context;
    if (out.json) return out.document({ address: opened ? address : target, opened, expireTime });
    if (opened) {
      if (!out.quiet) await out.text(`Opened ${address} in the browser.\n`);
      return out.notice('If the page does not open: devmgr open --no-browser');
    }
    await out.text(`${target}\n`);
    if (reason !== null) out.notice(`No browser was opened: ${reason}.`);
    await out.prose(
      `Open this address within ${signInCodeSeconds} seconds. It works once and signs in as you: do not share it.`,
    );
  },
});

/** The page as the console names it, without `#/` or `/` before it; null for the first one. */
function readPage(given: string | undefined): string | null {
  if (given === undefined) return null;
  const page = given.replace(/^#?\//, '');
  if (!/^[a-z][a-z-]*(?:[/?][\w?&=%.:,+/ -]{0,1000})?$/i.test(page))
    throw usage(`"${safe(given)}" is not a page of the console`, 'for example: devmgr open devices');
  return page;
}

/** Refuses a server without a console, before a code is made. */
async function demandConsole({ registry }: Context): Promise<void> {
  const { socketPath, ca, signal } = registry;
  const url = new URL(consolePath, await registry.address());
  const request = { method: 'GET', url, headers: { accept: 'text/html' }, socketPath, ca, signal };
  const { status, body } = await sendHttp(request);
  body.resume();
  if (status === 404)
    throw failure(
      `${safe(url.origin)} has no console`,
      'its daemon runs with --no-console, or is of an earlier version: devmgr daemon status',
    );
}

/** A code for a session of the browser. What a server sends in its place must not get into the file or onto the terminal. */
async function newCode({ registry }: Context): Promise<{ readonly code: string; readonly expireTime: string }> {
  const { code, expireTime } = await registry.call('createSignInCode', { body: { purpose: 'SESSION' } });
  if (!/^[\w-]{20,200}$/.test(code)) throw failure('the server sent something other than a code');
  return { code, expireTime };
}
