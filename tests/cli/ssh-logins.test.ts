/** As many logins at once as a company has at nine in the morning. Nothing is timed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Daemon, discard, startDaemon } from './program.ts';
import { sshBy } from './ssh-hosts.ts';

/** Questions of sshd, and of other doors, at once. */
const QUESTIONS = 500;
/** Whole logins at once: each is four processes, and the machine of the tests has two processors. */
const LOGINS = 20;

let daemon: Daemon;
const { addProviders, host } = sshBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon();
  await addProviders();
});
afterAll(() => discard(daemon));

needs(['sshd', 'ssh'], 'openssh-server openssh-client')('500 logins at once', () => {
  test('get the key from the stored answer and from decisions, and none after the lock', async () => {
    const { deviceId, ssh, login, configure, ask } = await host('many', 'MAX_AGE=3600');
    const decide = async () =>
      (await daemon.call('POST', '/api/decisions', { questions: [{ sshKey: ssh.publicKey }] })).decisions[0].reason;
    const all = <T>(count: number, of: () => Promise<T>) => Promise.all(Array.from({ length: count }, of));
    // The first one stores the answer.
    expect(await login()).toBe(true);
    const [answers, reasons, logins] = await Promise.all([
      all(QUESTIONS, ask),
      all(QUESTIONS, decide),
      all(LOGINS, login),
    ]);
    expect(new Set(answers)).toEqual(new Set([expect.stringContaining(ssh.publicKey)]));
    expect(new Set(reasons)).toEqual(new Set(['active']));
    expect(new Set(logins)).toEqual(new Set([true]));
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    expect(new Set(await all(QUESTIONS, decide))).toEqual(new Set(['locked']));
    configure('MAX_AGE=0');
    expect(await login()).toBe(false);
  });
});
