import type { DataOf } from '../../../contract/define.ts';
import { terminalLogin } from '../../../contract/limits.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { Client } from '../../client/client.ts';
import { failure } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { poll } from '../../retry.ts';
import { consoleAddress } from '../session/console-address.ts';
import { codeOf, terminalName } from './terminal-request.ts';

type Login = DataOf<Routes['login']>;

/** Logs in by a browser: shows an address and a code, and waits until a person has approved this terminal there. */
export async function logInByBrowser(context: Context, registry: Client): Promise<Login> {
  const { userCode, requestId, secret } = await request(registry);
  await announce(context, `${await consoleAddress(registry)}#/terminal`, userCode);
  const { interrupt } = context.io;
  // The server has no event for this: a terminal without a token has no stream. Its clock and that of this machine can differ, so
  // `expireTime` is not compared with the time here.
  const approved = await poll(
    async () => {
      const { state, login } = await registry.call('takeTerminalLogin', { body: { requestId, secret } });
      return state === 'APPROVED' && login ? login : null;
    },
    { everyMs: terminalLogin.pollSeconds * 1000, forMs: terminalLogin.seconds * 1000, signal: interrupt },
  );
  if (approved !== null) return approved;
  throw failure('the login was not approved in time', 'run the command again, and approve it in the browser');
}

async function request(registry: Client) {
  const made = await registry.call('createTerminalLogin', { body: { name: terminalName() } });
  return { ...made, userCode: codeOf(made.userCode) };
}

/** The address has no code: the person types it. */
async function announce({ out }: Context, page: string, userCode: string): Promise<void> {
  const minutes = terminalLogin.seconds / 60;
  await out.preview(`Open ${page}`);
  await out.preview(`Sign in there, type the code ${userCode}, and approve this terminal within ${minutes} minutes.`);
  await out.prose('Waiting for the browser. Ctrl-C ends the wait.');
}
