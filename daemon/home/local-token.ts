import { tokenSeconds } from '../../src/contract/limits.ts';
import type { Logger } from '../logger.ts';
import type { Tokens } from '../services/tokens.ts';
import type { Home } from './home.ts';

/** Milliseconds between two looks at the clock: a timer of hours stands still while the machine sleeps, the token's life does not. */
const LOOK_EVERY = 5000;
/** Milliseconds after which a renewal that failed is tried again. */
const AGAIN = 60_000;

/** Keeps a token of role LOCAL in the home, where programs of the same user find it, and makes it anew at half its life. */
export async function keepLocalToken(
  home: Home,
  tokens: Tokens,
  now: () => number,
  log: Logger,
): Promise<{ renew(): Promise<void>; stop(): Promise<void> }> {
  let renewAt = 0;
  const renew = async () => {
    renewAt = now() + AGAIN;
    const { token, expiresAt } = tokens.issueLocal();
    await home.writeSecret('localToken', `${token}\n`);
    renewAt = expiresAt - (tokenSeconds * 1000) / 2;
  };
  await renew();
  const timer = setInterval(() => {
    if (now() < renewAt) return;
    renew().catch(error => log.error({ err: error }, 'the local token could not be renewed'));
  }, LOOK_EVERY);
  timer.unref();
  return {
    renew,
    async stop() {
      clearInterval(timer);
      await home.remove('localToken');
    },
  };
}
