import type { DeviceType } from '../api/device-fields.ts';
import type { Key } from '../api/hardware.ts';
import { Fault, interrupted } from '../fault.ts';
import { types } from './choices.ts';
import type { Context } from './context.ts';
import { command } from './define.ts';
import { Enrolment, type EnrolOptions, type Outcome } from './enroll-key.ts';
import { EnrollReport } from './enroll-report.ts';
import { keyEvents } from './key-events.ts';

export const enroll = command({
  name: 'enroll',
  summary: 'register keys as they are plugged in',
  description:
    'Plug in one key after the other. Each is registered once, however often it is plugged; a key that is registered already is recognised as the device it is. What is plugged in at the start counts, unless --skip-attached says otherwise.\nManufacturer and model are those the key tells, unless named. --count and --timeout end the loop; else Ctrl-C does.',
  flags: {
    count: { value: 'N', short: 'n', whole: { min: 1 }, help: 'end after so many keys' },
    timeout: { value: 'SECONDS', whole: { min: 1 }, help: 'end when no key came for so long (exit code 10)' },
    type: { value: 'TYPE', choices: types, help: 'only keys of this type' },
    manufacturer: { value: 'NAME', help: 'manufacturer to register with' },
    model: { value: 'NAME', help: 'model to register with' },
    'activate-for': { value: 'USER', help: 'activate each key for this user' },
    'skip-attached': { help: 'leave out what is plugged in at the start' },
    'dry-run': { help: 'say what would be done, and change nothing' },
    out: {
      value: 'FILE',
      short: 'o',
      offer: 'file',
      help: 'add the results to this file as it goes (CSV, or JSON lines by its name)',
    },
  },
  examples: [
    { does: 'one key', line: 'enroll --count 1' },
    { does: 'a box of 500, with the codes in a file', line: 'enroll --count 500 --out codes.csv' },
    { does: 'for a script', line: 'enroll --count 1 --timeout 60 --json' },
  ],
  run: ({ flags }, context) =>
    enrollKeys(context, {
      count: flags.count ?? null,
      timeoutSeconds: flags.timeout ?? null,
      type: (flags.type as DeviceType | undefined) ?? null,
      manufacturer: flags.manufacturer ?? null,
      model: flags.model ?? null,
      activateFor: flags.activateFor ?? null,
      skipAttached: flags.skipAttached,
      dryRun: flags.dryRun,
      out: flags.out ?? null,
    }),
});

export interface EnrollOptions extends EnrolOptions {
  /** Ends after so many keys that were registered or recognised; null goes on. */
  readonly count: number | null;
  readonly timeoutSeconds: number | null;
  readonly type: DeviceType | null;
  readonly skipAttached: boolean;
  readonly out: string | null;
}

const partial = 7;

/** Resolves to the exit code. */
export async function enrollKeys(context: Context, options: EnrollOptions): Promise<number> {
  await context.registry.token();
  const skipped = await attachedAtStart(context, options);
  const report = new EnrollReport(context, options.out, options.count);
  const enrolment = new Enrolment(context, options);
  const idle = new Idle(options.timeoutSeconds);
  const handled = new Map<string, Outcome>();
  let done = 0;
  /** By keyId: a key that could not be read at first may be, later in the same plugging. */
  const failed = new Set<string>();
  report.ready();
  try {
    for await (const { type, key } of keyEvents(context, { signal: idle.signal, onState: report.link })) {
      if (type === 'KEY_DETACHED') continue;
      if (skipped.has(key.keyId) || (options.type !== null && key.deviceType !== options.type)) {
        report.passed(key, skipped.has(key.keyId) ? 'was plugged in before' : `is no ${options.type}`);
        continue;
      }
      const earlier = key.serialNumber === null ? undefined : handled.get(key.serialNumber);
      if (earlier) {
        report.again(key, earlier);
        continue;
      }
      idle.stop();
      const outcome = await enrolment.handle(key);
      if (outcome.result === 'failed') failed.add(key.keyId);
      else {
        done++;
        failed.delete(key.keyId);
        if (key.serialNumber !== null) handled.set(key.serialNumber, outcome);
      }
      await report.row(outcome, done);
      if (options.count !== null && done >= options.count) return 0;
      idle.start();
    }
  } catch (error) {
    if (context.io.interrupt.aborted) {
      report.summary(done, failed.size);
      throw interrupted();
    }
    throw error;
  } finally {
    idle.stop();
    report.close();
  }
  if (context.io.interrupt.aborted) {
    report.summary(done, failed.size);
    throw interrupted();
  }
  return ended(options, done, failed.size);
}

function ended({ count, timeoutSeconds }: EnrollOptions, done: number, failed: number): number {
  if (count !== null || done === 0) {
    const wanted = count === null ? '' : ` (${done} of ${count} keys were handled)`;
    throw new Fault(
      'hardware',
      `no key came within ${timeoutSeconds} s${wanted}`,
      'plug a key in, and see what is found: devmgr keys',
    );
  }
  return failed > 0 ? partial : 0;
}

/** The keys to leave out. Where no driver works and nothing is plugged in, no key can ever come. */
async function attachedAtStart(context: Context, { skipAttached }: EnrollOptions): Promise<ReadonlySet<string>> {
  const { list, drivers } = await context.hardware.call('listKeys');
  const working = drivers.some(driver => driver.state === 'ready');
  if (!working && list.length === 0) {
    const causes = drivers.map(driver => `${driver.name}: ${driver.detail}`);
    throw new Fault(
      'hardware',
      'keys cannot be seen on this machine',
      causes.join('\n    ') || 'devmgr doctor looks for the cause',
    );
  }
  return new Set(skipAttached ? list.map((key: Key) => key.keyId) : []);
}

/** Counts the time in which no key comes. */
class Idle {
  readonly #controller = new AbortController();
  readonly #seconds: number | null;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number | null) {
    this.#seconds = seconds;
    this.start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): void {
    this.stop();
    if (this.#seconds !== null) this.#timer = setTimeout(() => this.#controller.abort(), this.#seconds * 1000);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
