/** Runs of many devices that are killed, or that lose a response. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bulkDevices, fileOf, linesOf, loseResponse } from './bulk-devices.ts';
import { type Daemon, discard, startDaemon } from './program.ts';
import { relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const { registered, codeOf, countOf } = bulkDevices(() => daemon);

describe('a killed run', () => {
  /** Kills a run while its second batch is on the way; `executed` shows whether the daemon gets it. */
  async function killed(args: readonly string[], executed: boolean): Promise<void> {
    const reached = Promise.withResolvers<void>();
    let batches = 0;
    const url = await relayTo(daemon.url, (forward, answer) => {
      if (++batches !== 2) void forward();
      else if (executed) loseResponse(forward, answer).then(reached.resolve, reached.reject);
      else reached.resolve();
    });
    const running = daemon.start([...args, '--server', url], { env: { DEVMGR_TOKEN: daemon.token } });
    await reached.promise;
    running.child.kill('SIGKILL');
    await running.ended;
  }

  const namesIn = (out: string) =>
    linesOf(out)
      .slice(1)
      .map(line => line.split(',')[2]);

  test.each([true, false])(
    'is continued, and no new code is lost or replaced twice (executed: %s)',
    async executed => {
      const { ids } = await registered(1500);
      const { file, out } = fileOf(`${ids.join('\n')}\n`);
      const args = ['replace-code', '--file', file, '--yes', '--max', '5000', '--out', out, '--reason', 'lost'];
      await killed(args, executed);
      expect(linesOf(out)).toHaveLength(1001);
      expect((await daemon.run(args)).code).toBe(2);
      const before = await codeOf(ids[1200]!);
      const resumed = await daemon.run([...args, '--resume']);
      expect(resumed.code).toBe(0);
      expect(resumed.stderr).toContain(
        `received no response for 500 devices; ${executed ? 500 : 0} of them were changed`,
      );
      expect(namesIn(out)).toEqual(ids);
      const line = linesOf(out)[1201]!.split(',');
      expect([line[2], line[5]]).toEqual([ids[1200], await codeOf(ids[1200]!)]);
      expect(line[5] === before).toBe(executed);
      expect(existsSync(`${out}.resume.json`)).toBe(false);
    },
    60_000,
  );

  test('that locks by filter has a result for each device', async () => {
    const { name, ids } = await registered(1100, true);
    const { out } = fileOf('');
    const args = [
      'lock',
      '--filter',
      `manufacturer=${name}`,
      '--filter',
      'status=ACTIVE',
      '--yes',
      '--max',
      '5000',
      '--out',
      out,
      '--reason',
      'r',
    ];
    await killed(args, true);
    expect((await daemon.run([...args, '--resume'])).code).toBe(0);
    expect(namesIn(out)).toEqual(ids);
    expect(await countOf(name, 'LOCKED')).toBe(1100);
  }, 60_000);

  test('in one run, a lost response is not a failure', async () => {
    const { ids } = await registered(3, true);
    const reached: string[] = [];
    const url = await relayTo(daemon.url, (forward, answer) => {
      reached.push('batch');
      if (reached.length === 1) void loseResponse(forward, answer);
      else void forward();
    });
    const { code, rows } = await daemon.run(['lock', ...ids, ids[0]!, '--reason', 'r', '--json', '--server', url], {
      env: { DEVMGR_TOKEN: daemon.token },
    });
    expect(rows.map(({ deviceId, status }) => [deviceId, status])).toEqual([
      ...ids.map(id => [id, 'success']),
      [ids[0], 'failed'],
    ]);
    expect([code, reached.length]).toEqual([7, 2]);
  });
});
