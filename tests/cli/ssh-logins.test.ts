/** As many logins as a company has at nine in the morning. Nothing is timed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Daemon, discard, startDaemon } from './program.ts';
import { sshBy } from './ssh-hosts.ts';

/** Whole logins with the stored answer, and questions of sshd and of other doors. */
const COUNT = 500;
/** Whole logins for which the registry is asked: devmgr is started for each. As many are refused after the lock. */
const ASKING = 50;
/** Logins that are under way at once: each is four processes, and the machine of the tests has two processors. */
const AT_ONCE = 20;
/** All of it has 30 s of work for two processors, which other tests may use as well. */
const LONGEST_MS = 600_000;

let daemon: Daemon;
const { addProviders, host } = sshBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon();
  await addProviders();
});
afterAll(() => discard(daemon));

/** How many logins open the host. */
async function opened(count: number, login: () => Promise<boolean>): Promise<number> {
  let begun = 0;
  let open = 0;
  const worker = async () => {
    while (begun < count) {
      begun++;
      if (await login()) open++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return open;
}

needs(['sshd', 'ssh'], 'openssh-server openssh-client')('500 logins', () => {
  test(
    'open the host of an ACTIVE key, and none does after the lock',
    async () => {
      const { deviceId, login, configure, log } = await host('many', 'MAX_AGE=3600');
      // The first one stores the answer.
      expect(await login()).toBe(true);
      expect(await opened(COUNT, login)).toBe(COUNT);
      configure('MAX_AGE=0');
      expect(await opened(ASKING, login)).toBe(ASKING);
      expect(log().match(/^Accepted publickey for /gm)).toHaveLength(1 + COUNT + ASKING);
      await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
      expect(await opened(ASKING, login)).toBe(0);
    },
    LONGEST_MS,
  );

  test('get the key from the stored answer and from decisions, all at once', async () => {
    const { deviceId, ssh, login, ask } = await host('asked', 'MAX_AGE=3600');
    const decide = async () =>
      (await daemon.call('POST', '/api/decisions', { questions: [{ sshKey: ssh.publicKey }] })).decisions[0].reason;
    const all = <T>(of: () => Promise<T>) => Promise.all(Array.from({ length: COUNT }, of));
    expect(await login()).toBe(true);
    const [answers, reasons] = await Promise.all([all(ask), all(decide)]);
    expect(new Set(answers)).toEqual(new Set([expect.stringContaining(ssh.publicKey)]));
    expect(new Set(reasons)).toEqual(new Set(['active']));
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    expect(new Set(await all(decide))).toEqual(new Set(['locked']));
  });
});
