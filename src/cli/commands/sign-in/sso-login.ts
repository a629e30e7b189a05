import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DataOf } from '../../../contract/define.ts';
import { ssoBounds } from '../../../contract/limits.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { Client } from '../../client/client.ts';
import { failure, interrupted } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { pause } from '../../retry.ts';
import { safe } from '../../terminal/text.ts';
import { showInBrowser, whyNoBrowser } from '../session/open/browser.ts';
import { codeOf, terminalName } from './terminal-request.ts';

type Login = DataOf<Routes['login']>;

/** Logs in at the provider: in a browser of this machine if there is one and it is wanted, otherwise by device code. */
export async function logInAtProvider(context: Context, registry: Client, wantsBrowser: boolean): Promise<Login> {
  const login = wantsBrowser && whyNoBrowser(context.env) === null ? await logInHere(context, registry) : null;
  return login ?? logInByCode(context, registry);
}

/** Null if no browser could be started. */
async function logInHere({ env, settings, out, io }: Context, registry: Client): Promise<Login | null> {
  const loopback = await listenOnLoopback();
  try {
    const started = await registry.call('startSso', { body: { loopbackPort: loopback.port, name: terminalName() } });
    const { url, state, secret, userCode } = started;
    // A registry of an earlier version has set a cookie, and would lead the browser to its console.
    if (secret === undefined || !/^https?:/.test(url)) return null;
    const answer = loopback.answer(state, ssoBounds.signInSeconds * 1000, io.interrupt);
    answer.catch(() => undefined);
    const reason = await showInBrowser(url, env, settings.home);
    if (reason !== null) {
      out.notice(`No browser was opened: ${reason}.`);
      return null;
    }
    if (userCode !== undefined) {
      await out.preview(
        `Sign in at the provider, in the browser. Confirm there only if it shows the code ${codeOf(userCode)}.`,
      );
      await out.prose('Ctrl-C ends the wait. Without a browser: --no-browser.');
    } else
      await out.prose(
        'Sign in at the provider, in the browser. Ctrl-C ends the wait. Without a browser: --no-browser.',
      );
    const found = await answer;
    const text = (name: string) => (found.get(name) === null ? {} : { [name]: found.get(name)! });
    const body = { secret, state, ...text('code'), ...text('iss'), ...text('error') };
    return await registry.call('takeSso', { body });
  } finally {
    loopback.close();
  }
}

/** Shows an address and a code (RFC 8628), and waits for the person. */
async function logInByCode(context: Context, registry: Client): Promise<Login> {
  const asked = await registry.call('startSsoDevice');
  const { out, io } = context;
  await out.preview(`Open ${safe(asked.verificationUriComplete ?? asked.verificationUri)}`);
  await out.preview(`Sign in there, and compare or type the code ${safe(asked.userCode)}.`);
  await out.prose('Waiting for the provider. Ctrl-C ends the wait.');
  // The registry ends the wait earlier. Its clock and that of this machine can differ, so `expireTime` is not compared with the time here.
  const end = performance.now() + ssoBounds.codeSeconds * 1000;
  for (let { interval } = asked; performance.now() < end; ) {
    await pause(Math.min(Math.max(interval, 1), 60) * 1000, io.interrupt);
    const answer = await registry.call('pollSsoDevice', { body: { deviceCode: asked.deviceCode } });
    if (answer.state === 'APPROVED' && answer.login) return answer.login;
    interval = Math.max(interval, answer.interval);
  }
  throw failure('the sign-in timed out', 'run the command again');
}

const pageHeaders = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', connection: 'close' };
/** Page that the browser shows after it has brought the answer of the provider. */
const page =
  '<!doctype html><meta charset="utf-8"><title>devmgr</title><p>You can close this window and return to the terminal.';

/** Where the browser is led. */
interface Loopback {
  readonly port: number;
  /** Resolves with the first answer that has this state; others get 404. Rejects when the time is over, or the signal is aborted. */
  answer(state: string, milliseconds: number, signal: AbortSignal): Promise<URLSearchParams>;
  close(): void;
}

/** A sign-in that ends at a port of this machine (RFC 8252). Listens on a port that the system chooses, for this machine only. */
async function listenOnLoopback(): Promise<Loopback> {
  let take: ((request: IncomingMessage) => boolean) | null = null;
  const server = createServer((request, response: ServerResponse) => {
    if (take?.(request)) response.writeHead(200, pageHeaders).end(page);
    else response.writeHead(404, { connection: 'close' }).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const answer = (state: string, milliseconds: number, signal: AbortSignal) =>
    new Promise<URLSearchParams>((resolve, reject) => {
      const stop = () => reject(interrupted());
      signal.addEventListener('abort', stop, { once: true });
      const late = () => reject(failure('the sign-in timed out', 'run the command again'));
      const timer = setTimeout(late, milliseconds);
      take = ({ method, url = '', headers: { host } }) => {
        // Another host: a page whose name leads to this machine.
        if (method !== 'GET' || host !== `127.0.0.1:${port}` || !url.startsWith('/?')) return false;
        const found = new URLSearchParams(url.slice(2));
        if (found.get('state') !== state) return false;
        take = null;
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        resolve(found);
        return true;
      };
    });
  return { port, answer, close: () => void server.close() };
}
