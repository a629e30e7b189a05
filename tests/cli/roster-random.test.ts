/** `enroll --roster` with an operator who plugs, pulls and scans at random, while reports of keys come late: pair by pair. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { type Pair, RandomOperator } from './random-operator.ts';
import { RosterReader } from './roster-station.ts';
import { ctrl } from './screen.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));
// Each third report of a key comes late, as on a machine that is busy; the list is up to date.
vi.mock('../../daemon/hardware/attached-keys.ts', async importOriginal => {
  const original = await importOriginal<typeof import('../../daemon/hardware/attached-keys.ts')>();
  type Options = ConstructorParameters<typeof original.AttachedKeys>[0];
  class LateKeys extends original.AttachedKeys {
    constructor({ hub, ...options }: Options) {
      let published = Promise.resolve();
      let count = 0;
      const publish: Options['hub']['publish'] = (...args) => {
        const late = count++ % 3 === 2 ? (count * 719) % 2500 : 0;
        published = published.then(() => sleep(late)).then(() => hub.publish(...args));
      };
      super({ ...options, hub: { publish } });
    }
  }
  return { ...original, AttachedKeys: LateKeys };
});

const daemon = daemonOfTests({ hardware: true });
const reader = new RosterReader(driver, () => daemon);
afterEach(() => reader.pullAll());

/**
 * Two that gave a key to a later badge when only time told whether it was still plugged in. For a longer run: the first seed, and
 * how many.
 */
const [first, count] = (process.env.TEST_ROSTER_SEEDS ?? '').split(',').map(Number) as [number, number?];
const seeds = count === undefined ? [1, 6] : Array.from({ length: count }, (_, index) => first + index);

test.each(seeds)(
  'no key goes to a person whose badge came after it was pulled out, in the results and in the registry: seed %i',
  async seed => {
    const people = Array.from({ length: 12 }, (_, index) => `a${seed}-p${index}`);
    const { out, rows, atTerminal } = reader.station(`userId\n${people.join('\n')}\n`);
    const screen = atTerminal('--out', out);
    await screen.shows(/plug in a key/);
    const operator = new RandomOperator(reader, screen, people, seed);
    const hasEnded = () => screen.child.exitCode !== null;
    for (let acts = 0; acts < 12 && !hasEnded(); acts++) await operator.act();
    await reader.pullAll();
    if (!hasEnded()) screen.type(ctrl.c);
    expect([0, 130]).toContain((await screen.ended).code);
    const pairs = rows().flatMap((row): Pair[] => {
      const [result, , serialNumber, , , , userId] = row.split(',');
      return result === 'registered' ? [{ serialNumber: serialNumber!, userId: userId! }] : [];
    });
    expect(operator.faults(pairs)).toEqual([]);
    const holders = [...(await reader.holders())].filter(([, userId]) => people.includes(userId));
    expect(Object.fromEntries(holders)).toEqual(
      Object.fromEntries(pairs.map(pair => [pair.serialNumber, pair.userId])),
    );
  },
  120_000,
);
