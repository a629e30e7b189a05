import type { Key } from '../../../contract/hardware.ts';
import { type DeviceType, deviceTypes } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { exitCodes } from '../../exit-codes.ts';
import { Fault, usage } from '../../fault.ts';
import { tagFlag, tagsOf } from '../devices/tags.ts';
import { type KeyLabel, keyLabelFlags, keyLabelOf } from '../labels/enrolled.ts';
import { type EnrolledKey, type EnrollKeyOptions, KeyEnrollment } from './enroll-key.ts';
import { keyEvents } from './key-events.ts';
import { EnrollReport } from './report.ts';
import { EnrollFile } from './results.ts';
import { attachedAtStart, Idle } from './waiting.ts';

/** Enrolls keys as they are plugged in. Exit code 10 if no key comes in time, 7 if some keys failed. */
export const enroll = command({
  description:
    'Plug in one key after another. Each key is registered once, however often you plug it in; a key that is already registered is recognized. Keys that are attached at the start are included, unless --skip-attached is given.\nManufacturer and model are read from the key unless you name them. The command ends after --count keys, after --timeout, or with Ctrl-C; run again with the same --out, it continues.',
  flags: {
    count: { value: 'N', short: 'n', whole: { min: 1 }, help: 'end after N keys, including those already in --out' },
    timeout: { value: 'SECONDS', whole: { min: 1 }, help: 'end if no key is plugged in for this long (exit code 10)' },
    type: { value: 'TYPE', choices: deviceTypes, help: 'only keys of this type' },
    manufacturer: { value: 'NAME', offer: 'manufacturer', help: 'manufacturer to register with' },
    model: { value: 'NAME', help: 'model to register with' },
    'activate-for': { value: 'USER', offer: 'holder', help: 'activate each key for this user' },
    roster: {
      value: 'FILE',
      offer: 'file',
      help: 'bind a key to each person of this CSV: userId, name, and count or type',
    },
    bell: { help: 'with --roster: ring once if a key passes, twice if it fails' },
    big: { help: 'with --roster: show the name of the person large' },
    'skip-attached': { help: 'skip keys that are attached at the start' },
    prove: { help: 'ask each key for a proof; some blink and wait for a touch' },
    'require-proof': {
      value: 'GRADE',
      choices: ['model', 'unit'],
      help: 'prove each key, and do not register one whose proof is below this grade',
    },
    tag: tagFlag('tag of each device that is registered, such as lot=7; can be repeated'),
    ...keyLabelFlags,
    'dry-run': { help: 'show what would be done, and change nothing' },
    out: {
      value: 'FILE',
      short: 'o',
      offer: 'file',
      help: 'append the results to this file: JSON lines if its name ends in .json, .jsonl or .ndjson, else CSV',
    },
  },
  examples: [
    { does: 'one key', line: 'enroll --count 1' },
    { does: 'a box of 500, with the codes in a file', line: 'enroll --count 500 --out codes.csv' },
    { does: 'a lot at a station', line: 'enroll --tag lot=7 --tag station=line-3 --out lot-7.csv' },
    { does: 'with a label for each key', line: 'enroll --label --printer 10.0.0.9' },
    { does: 'only keys that prove their serial number', line: 'enroll --require-proof unit' },
    { does: 'a key for each person of a list', line: 'enroll --roster people.csv --out handed-out.csv' },
    { does: 'for a script', line: 'enroll --count 1 --timeout 60 --json' },
  ],
  run: async ({ flags }, context) => {
    const common = {
      timeoutSeconds: flags.timeout ?? null,
      type: flags.type ?? null,
      manufacturer: flags.manufacturer ?? null,
      model: flags.model ?? null,
      skipAttached: flags.skipAttached,
      dryRun: flags.dryRun,
      proof: flags.requireProof ?? (flags.prove ? ('none' as const) : null),
      tags: flags.tag.length === 0 ? null : tagsOf(flags.tag),
      out: flags.out ?? null,
    };
    const { roster, bell, big } = flags;
    checkRosterFlags(flags);
    const label = keyLabelOf(context, flags);
    if (roster !== undefined) {
      const { enrollRoster } = await import('../roster/run.ts');
      return enrollRoster(context, { ...common, roster, bell, big, label, activateFor: null });
    }
    const activateFor = flags.activateFor === undefined ? null : await checkedUser(flags.activateFor);
    return enrollKeys(context, { ...common, count: flags.count ?? null, activateFor, label });
  },
});

interface RosterFlags {
  readonly roster?: string | undefined;
  readonly activateFor?: string | undefined;
  readonly count?: number | undefined;
  readonly bell: boolean;
  readonly big: boolean;
}

/** A roster names the users and the number of keys; two flags need one. */
function checkRosterFlags({ roster, activateFor, count, bell, big }: RosterFlags): void {
  if (roster === undefined && (bell || big)) throw usage(`${bell ? '--bell' : '--big'} needs --roster`);
  if (roster === undefined) return;
  if (activateFor !== undefined) throw usage('--roster names the users: --activate-for cannot be given with it');
  if (count !== undefined)
    throw usage('--roster says how many keys: --count cannot be given with it', 'use the column count of the roster');
}

/** Checked before the first key: the server would refuse it for every key. */
async function checkedUser(userId: string): Promise<string> {
  const { readBoundUser } = await import('../../../contract/readers.ts');
  const outcome = readBoundUser({ userId });
  if (!outcome.ok) throw usage(`--activate-for: ${outcome.message}`, 'name the user to activate the keys for');
  return outcome.value.userId;
}

/** How keys are enrolled, and when it ends. */
export interface EnrollOptions extends EnrollKeyOptions {
  /** Ends after this many keys were registered or recognized; null for no limit. */
  readonly count: number | null;
  readonly timeoutSeconds: number | null;
  readonly type: DeviceType | null;
  readonly skipAttached: boolean;
  readonly out: string | null;
  /** Prints the label of each key that is registered; absent or null prints none. */
  readonly label?: KeyLabel | null;
}

/** Resolves to the exit code. */
export async function enrollKeys(context: Context, options: EnrollOptions): Promise<number> {
  await context.registry.token();
  const skipped = await attachedAtStart(context, options.skipAttached);
  const file = options.out === null ? null : new EnrollFile(options.out, options);
  const report = new EnrollReport(context, file, options.count);
  const enrollment = new KeyEnrollment(context, options);
  const count = new Count(file === null || options.dryRun ? new Map() : await file.earlier(), options.count);
  const idle = new Idle(options.timeoutSeconds);
  report.ready(count);
  if (count.reached) {
    report.finished(count);
    return 0;
  }
  try {
    for await (const { type, key, before } of keyEvents(context, { signal: idle.signal, onState: report.link })) {
      if (type === 'KEY_DETACHED') continue;
      // A daemon that was restarted has given the key another id.
      if (before !== null && skipped.has(before)) skipped.add(key.keyId);
      if (skipped.has(key.keyId) || (options.type !== null && key.deviceType !== options.type)) {
        report.skipped(key, skipped.has(key.keyId) ? 'was already attached' : `is not a ${options.type}`, count);
        continue;
      }
      const handled = count.handled(key);
      if (handled !== undefined) {
        report.again(key, handled, count);
        continue;
      }
      idle.stop();
      const enrolled = await enrollment.handle(key);
      const hasLabel = options.label && enrolled.result === 'registered' && enrolled.deviceId !== null;
      const outcome = hasLabel ? await options.label.print(enrolled) : enrolled;
      if (count.take(key, outcome) === 'as before') report.again(key, outcome.deviceId, count);
      else await report.row(outcome, count);
      if (count.reached) {
        report.finished(count);
        return 0;
      }
      idle.start();
    }
  } catch (error) {
    if (!context.io.interrupt.aborted) throw error;
  } finally {
    idle.stop();
    report.close();
  }
  if (!context.io.interrupt.aborted) return ended(options, count);
  // Ctrl-C is how an enrollment without --count ends: the summary is its result, not an error.
  report.summary(count);
  return exitCodes.interrupted;
}

/** Which keys are done. Each counts once, however often it is plugged in, in this run and in the runs it continues. */
class Count {
  /** DeviceId by serial number; null in a dry run. */
  readonly #handled = new Map<string, string | null>();
  readonly #earlier: ReadonlyMap<string, string>;
  /** By serial number, or by keyId if it could not be read: it may be readable later while it stays attached. */
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

  /** The device of a key that this run has handled; undefined if it is new. */
  handled({ serialNumber }: Key): string | null | undefined {
    return serialNumber === null ? undefined : this.#handled.get(serialNumber);
  }

  /** `as before`: an earlier run has already reported this result. */
  take({ keyId, serialNumber }: Key, { result, deviceId, message }: EnrolledKey): 'new' | 'as before' {
    if (result === 'failed' || serialNumber === null) {
      this.#failed.delete(keyId);
      this.#failed.add(serialNumber ?? keyId);
      return 'new';
    }
    this.#failed.delete(keyId);
    this.#failed.delete(serialNumber);
    this.#handled.set(serialNumber, deviceId);
    const before = this.#earlier.get(serialNumber);
    if (before === undefined) this.done++;
    return result === 'known' && deviceId === before && message === null ? 'as before' : 'new';
  }
}

function ended({ count, timeoutSeconds }: EnrollOptions, { done, doneNow, failed }: Count): number {
  if (count !== null || doneNow === 0) {
    const wanted = count === null ? '' : ` (${done} of ${count} keys were handled)`;
    throw new Fault(
      'hardware',
      `no key was plugged in within ${timeoutSeconds} s${wanted}`,
      'plug in a key, and see whether it is found: devmgr keys',
    );
  }
  return failed > 0 ? exitCodes.partial : exitCodes.done;
}
