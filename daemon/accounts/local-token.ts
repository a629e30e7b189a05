import { tokenSeconds } from '../../src/contract/limits.ts';
import { every } from '../base/concurrency.ts';
import type { Logger } from '../base/logger.ts';
import type { Home } from '../home/home.ts';
import type { Tokens } from './tokens.ts';

/** Milliseconds between two looks at the clock: a timer of hours would stop while the machine sleeps, but the token still expires. */
const CHECK_EVERY_MS = 5000;
/** Milliseconds until a failed renewal is retried. */
const RETRY_MS = 60_000;

/** Stores a token with the role LOCAL in the home, for programs of this user; renews it after half its lifetime. `stop` removes it. */
export async function keepLocalToken(
  home: Home,
  tokens: Tokens,
  now: () => number,
  log: Logger,
): Promise<{ renew(): Promise<void>; stop(): Promise<void> }> {
  let renewAt = 0;
  const renew = async () => {
    renewAt = now() + RETRY_MS;
    const { token, expiresAt } = tokens.issueLocal();
    await home.writeSecret('localToken', `${token}\n`);
    renewAt = expiresAt - (tokenSeconds * 1000) / 2;
  };
  await renew();
  const stopChecks = every(CHECK_EVERY_MS, () => {
    if (now() < renewAt) return;
    renew().catch(error => log.error({ err: error }, 'the local token could not be renewed'));
  });
  return {
    renew,
    async stop() {
      stopChecks();
      await home.remove('localToken');
    },
  };
}
