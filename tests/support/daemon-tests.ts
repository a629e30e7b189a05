/** A daemon and a clock that the tests of a file or of a group share. The hooks of the tests are registered by the call. */
import { afterAll, beforeAll } from 'vitest';
import type { DaemonSettings } from '../../daemon/home/settings.ts';
import { holdClock } from './clock.ts';
import { startTestDaemon, type TestDaemon } from './daemon.ts';

/** A daemon that starts before the first test and stops after the last one. */
export function daemonOfTests(settings: Partial<DaemonSettings> = {}): TestDaemon {
  let running: TestDaemon | undefined;
  beforeAll(async () => {
    running = await startTestDaemon(settings);
  });
  afterAll(() => running?.stop());
  // The tests name their daemon before it runs.
  return new Proxy({} as TestDaemon, { get: (_, name: keyof TestDaemon) => running?.[name] });
}

/** The clock of this process, held for all tests. To be called before `daemonOfTests`: the daemon starts on this clock and stops on it. */
export function clockOfTests(): Pick<ReturnType<typeof holdClock>, 'forward'> {
  let held: ReturnType<typeof holdClock>;
  beforeAll(() => {
    held = holdClock();
  });
  afterAll(() => held.release());
  return { forward: milliseconds => held.forward(milliseconds) };
}
