import { tokenSeconds } from '../src/api/limits.ts';
import type { Home } from './home.ts';
import type { Logger } from './log.ts';
import type { Tokens } from './services/tokens.ts';

/** Keeps a token of role LOCAL in the home, where programs of the same user find it, and makes it anew at half its life. */
export async function keepLocalToken(
  home: Home,
  tokens: Tokens,
  log: Logger,
): Promise<{ renew(): Promise<void>; stop(): Promise<void> }> {
  const renew = () => home.writeSecret('localToken', `${tokens.issueLocal().token}\n`);
  await renew();
  const timer = setInterval(
    () => {
      renew().catch(error => log.error({ err: error }, 'the local token could not be renewed'));
    },
    (tokenSeconds * 1000) / 2,
  );
  timer.unref();
  return {
    renew,
    async stop() {
      clearInterval(timer);
      await home.remove('localToken');
    },
  };
}
