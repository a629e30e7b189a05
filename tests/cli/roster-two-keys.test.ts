/** `enroll --roster` with two keys at once, one of which is read late or not at all, in every order. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { AttachedKey, Driver, KeyEvent } from '../../drivers/driver.ts';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { RosterReader } from './roster-station.ts';

const simulated = createSimulatedDriver({ count: 0, now: Date.now });

/** The simulated keys; some of them do not answer before `read`. */
class LateKeys implements Driver {
  readonly name = simulated.name;
  /** Whether keys that are plugged in now answer. */
  answers = true;
  readonly #silent = new Set<string>();
  #listener: (event: KeyEvent) => void = () => undefined;

  status = () => simulated.status();
  keys = () => simulated.keys();
  prove = () => Promise.reject(new Error('not used here'));
  stop = () => simulated.stop();

  start(listener: (event: KeyEvent) => void): Promise<void> {
    this.#listener = listener;
    return simulated.start(event => {
      if (event.kind === 'attached' && !this.answers) this.#silent.add(event.key.keyId);
      listener(event.kind === 'status' || !this.#silent.has(event.key.keyId) ? event : unread(event));
    });
  }

  /** The key answers now. */
  read(key: AttachedKey): void {
    this.#silent.delete(key.keyId);
    this.#listener({ kind: 'changed', key });
  }
}

const unread = (event: Exclude<KeyEvent, { kind: 'status' }>): KeyEvent => ({
  ...event,
  key: { ...event.key, serialNumber: null, serialSource: null, problem: 'it did not answer in time' },
});

const driver = new LateKeys();
vi.mock('../../daemon/hardware/drivers.ts', () => ({ createDrivers: () => [driver] }));

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ hardware: true });
});
afterAll(() => daemon.stop());
const reader = new RosterReader(simulated, () => daemon);
afterEach(() => reader.pullAll());

const plug = (answers: boolean): Promise<AttachedKey> => {
  driver.answers = answers;
  return reader.plug();
};

test.each([
  { name: 'the first one does not answer, and is removed', answers: [false, true], removed: 0, late: null },
  { name: 'the second one does not answer, and is removed', answers: [true, false], removed: 1, late: null },
  { name: 'the first one answers late, and is removed', answers: [false, true], removed: 0, late: 0 },
  { name: 'the second one answers late, and stays', answers: [true, false], removed: 0, late: 1 },
  { name: 'neither answers, and the one that stays answers late', answers: [false, false], removed: 1, late: 0 },
] as const)('$name: the key that stays is bound', async ({ answers, removed, late }) => {
  const user = `zoe-${answers.join('-')}-${removed}-${late}`;
  const running = reader.station(`userId\n${user}\n`).start();
  const pair = [await plug(answers[0]), await plug(answers[1])] as const;
  const stays = pair[1 - removed]!;
  await running.until('stderr', /two new keys at once: nothing is bound/);
  const isLateWhileBoth = late === removed;
  if (isLateWhileBoth) driver.read(pair[late]);
  await reader.pull(pair[removed].keyId);
  if (late !== null && !isLateWhileBoth) {
    await running.until('stderr', /two new keys[\s\S]*FAIL.*\(no readable serial\)/);
    driver.read(pair[late]);
  }
  await running.until('stderr', new RegExp(`two new keys[\\s\\S]*PASS.*${stays.serialNumber}`));
  await reader.pull(stays.keyId);
  expect((await running.ended).code).toBe(0);
  const holders = await reader.holders();
  expect([stays, pair[removed]].map(key => holders.get(key.serialNumber!))).toEqual([user, undefined]);
});
