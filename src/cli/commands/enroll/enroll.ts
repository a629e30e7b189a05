import type { DeviceType } from '../../../contract/device-fields.ts';
import type { Key } from '../../../contract/hardware.ts';
import { types } from '../../choices.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, interrupted, usage } from '../../fault.ts';
import { Enrolment, type EnrolOptions, type Outcome } from './enroll-key.ts';
import { keyEvents } from './key-events.ts';
import { EnrollReport } from './report.ts';
import { EnrollFile } from './results.ts';

export const enroll = command({
  name: 'enroll',
  summary: 'register keys as they are plugged in',
  description:
    'Plug in one key after the other. Each is registered once, however often it is plugged; a key that is registered already is recognised as the device it is. What is plugged in at the start counts, unless --skip-attached says otherwise.\nManufacturer and model are those the key tells, unless named. --count and --timeout end the loop; else Ctrl-C does, and the same command with the same --out goes on where it ended.',
  flags: {
    count: { value: 'N', short: 'n', whole: { min: 1 }, help: 'end after so many keys, those in --out included' },
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
      help: 'add the results to this file as it goes (CSV, or JSON lines by its name), and go on from it',
    },
  },
  examples: [
    { does: 'one key', line: 'enroll --count 1' },
    { does: 'a box of 500, with the codes in a file', line: 'enroll --count 500 --out codes.csv' },
    { does: 'for a script', line: 'enroll --count 1 --timeout 60 --json' },
  ],
  run: async ({ flags }, context) =>
    enrollKeys(context, {
      count: flags.count ?? null,
      timeoutSeconds: flags.timeout ?? null,
      type: (flags.type as DeviceType | undefined) ?? null,
      manufacturer: flags.manufacturer ?? null,
      model: flags.model ?? null,
      activateFor: flags.activateFor === undefined ? null : await userNamed(flags.activateFor),
      skipAttached: flags.skipAttached,
      dryRun: flags.dryRun,
      out: flags.out ?? null,
    }),
});

/** Refused before the first key is plugged in: it would be refused with every one of them. */
async function userNamed(userId: string): Promise<string> {
  const { readBoundUser } = await import('../../../contract/readers.ts');
  const outcome = readBoundUser({ userId });
  if (!outcome.ok) throw usage(`--activate-for: ${outcome.message}`, 'name the user who gets the keys');
  return outcome.value.userId;
}

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
  const file = options.out === null ? null : new EnrollFile(options.out);
  const report = new EnrollReport(context, file, options.count);
  const enrolment = new Enrolment(context, options);
  const count = new Count(file === null || options.dryRun ? new Map() : await file.earlier(), options.count);
  const idle = new Idle(options.timeoutSeconds);
  report.ready(count);
  if (count.reached) {
    report.finished(count);
    return 0;
  }
  try {
    for await (const { type, key } of keyEvents(context, { signal: idle.signal, onState: report.link })) {
      if (type === 'KEY_DETACHED') continue;
      if (skipped.has(key.keyId) || (options.type !== null && key.deviceType !== options.type)) {
        report.passed(key, skipped.has(key.keyId) ? 'was plugged in before' : `is no ${options.type}`, count);
        continue;
      }
      const handled = count.handled(key);
      if (handled !== undefined) {
        report.again(key, handled, count);
        continue;
      }
      idle.stop();
      const outcome = await enrolment.handle(key);
      if (count.take(key, outcome) === 'as before') report.again(key, outcome.deviceId, count);
      else await report.row(outcome, count);
      if (count.reached) {
        report.finished(count);
        return 0;
      }
      idle.start();
    }
  } catch (error) {
    if (context.io.interrupt.aborted) {
      report.summary(count);
      throw interrupted();
    }
    throw error;
  } finally {
    idle.stop();
    report.close();
  }
  if (context.io.interrupt.aborted) {
    report.summary(count);
    throw interrupted();
  }
  return ended(options, count);
}

/** Which keys are done: each counts once, however often it is plugged, in this run and in those it goes on from. */
class Count {
  /** DeviceId by serial number; null where a dry run knows none. */
  readonly #handled = new Map<string, string | null>();
  readonly #earlier: ReadonlyMap<string, string>;
  /** By keyId: a key that could not be read at first may be, later in the same plugging. By serial number, where it has one, in the next. */
  readonly #failed = new Set<string>();
  readonly #wanted: number | null;
  done: number;

  constructor(earlier: ReadonlyMap<string, string>, wanted: number | null) {
    this.#earlier = earlier;
    this.#wanted = wanted;
    this.done = earlier.size;
  }

  get failed(): number {
    return this.#failed.size;
  }

  get doneNow(): number {
    return this.done - this.#earlier.size;
  }

  get reached(): boolean {
    return this.#wanted !== null && this.done >= this.#wanted;
  }

  /** The device of a key that this run had before; undefined where it is new. */
  handled({ serialNumber }: Key): string | null | undefined {
    return serialNumber === null ? undefined : this.#handled.get(serialNumber);
  }

  /** `as before`: an earlier run has said of it what there is to say. */
  take({ keyId, serialNumber }: Key, { result, deviceId, message }: Outcome): 'told' | 'as before' {
    if (result === 'failed' || serialNumber === null) {
      this.#failed.delete(keyId);
      this.#failed.add(serialNumber ?? keyId);
      return 'told';
    }
    this.#failed.delete(keyId);
    this.#failed.delete(serialNumber);
    this.#handled.set(serialNumber, deviceId);
    const before = this.#earlier.get(serialNumber);
    if (before === undefined) this.done++;
    return result === 'known' && deviceId === before && message === null ? 'as before' : 'told';
  }
}

function ended({ count, timeoutSeconds }: EnrollOptions, { done, doneNow, failed }: Count): number {
  if (count !== null || doneNow === 0) {
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
