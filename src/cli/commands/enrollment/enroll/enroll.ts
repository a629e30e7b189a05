import type { Key } from '../../../../contract/hardware.ts';
import { namesIn } from '../../../../contract/names.ts';
import { KeyEnrollment } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { Fault, usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { tagsOf } from '../../../framework/devices/tags.ts';
import { boundName } from '../../accounts/find-user.ts';
import { usualTerms } from '../../receipts/make.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import { type EnrollOptions, EnrollRun, withOpened } from './enroll-run.ts';
import { enrollmentParts } from './enrollment-parts.ts';
import { enrollFlags } from './flags.ts';
import { KeyCount } from './key-count.ts';
import type { OwnNumber } from './own-number.ts';
import { EnrollReport } from './report.ts';
import { stationNamed, withStation } from './station.ts';

/** Enrolls keys as they are plugged in. Exit code 10 if no key comes in time, 7 if some keys failed. */
export const enroll = command({
  description:
    'Plug in one key after another. Each key is registered once, however often you plug it in. Keys that are attached already are included. The command ends after --count keys, after --timeout, or with Ctrl-C. Run it again with the same --out to continue.',
  brief: {
    flags: namesIn('station count activate-for roster group provider pin tag spool label printer dry-run out'),
    examples: 4,
  },
  flags: enrollFlags,
  examples: {
    'a box of 500, with the codes in a file': 'enroll --count 500 --out codes.csv',
    'a key for each person of a list': 'enroll --roster people.csv --out handed-out.csv',
    'with what this station repeats each day': 'enroll --station desk --group "New hires 2026-12"',
    'ready to sign in, with a PIN on its letter':
      'enroll --activate-for ada.lovelace --provider company --pin random --label --printer 10.0.0.9',
    'a lot at a station': 'enroll --tag lot=7 --tag station=line-3 --out lot-7.csv',
    'with a label for each key': 'enroll --label --printer 10.0.0.9',
    'only keys that prove their serial number': 'enroll --require-proof unit',
    'with a receipt that each key signs': 'enroll --roster people.csv --receipt --out handed-out.csv',
    'even while the registry cannot be reached': 'enroll --spool keys.spool --out codes.csv',
    'after the registry was restored': 'enroll --redeliver codes.csv',
    'for a script': 'enroll --count 1 --timeout 60 --json',
  },
  run: async ({ flags: given }, context) => {
    const { home } = context.settings;
    const flags = given.station === undefined ? given : withStation(given, stationNamed(home, given.station));
    if (flags.redeliver !== undefined) {
      const { redeliver } = await import('./lacking.ts');
      return redeliver(context, flags.redeliver, flags.dryRun);
    }
    const common = {
      timeoutSeconds: flags.timeout ?? null,
      type: flags.type ?? null,
      manufacturer: flags.manufacturer ?? null,
      model: flags.model ?? null,
      skipAttached: flags.skipAttached,
      dryRun: flags.dryRun,
      wasReset: flags.wasReset,
      proof: flags.requireProof ?? (flags.prove ? ('none' as const) : null),
      tags: flags.tag.length === 0 ? null : tagsOf(flags.tag),
      receipt: flags.receipt ? (flags.terms ?? usualTerms) : null,
      out: flags.out ?? null,
      spool: flags.spool ?? null,
      again: flags.again,
    };
    if (common.spool !== null && common.proof !== null)
      throw usage(
        '--spool cannot be given with --prove or --require-proof: a proof answers a challenge of the registry',
        'enroll without a proof, and prove the keys later: devmgr keys verify',
      );
    const { group = null, bell, big } = flags;
    const roster = flags.roster ?? (group === null ? undefined : `the group ${group}`);
    checkRosterFlags({ ...flags, roster });
    const ofPerson = flags.provider.length > 0 ? '--provider' : flags.receipt ? '--receipt' : null;
    if (ofPerson !== null && roster === undefined && flags.activateFor === undefined)
      throw usage(
        `${ofPerson} needs the person of the key`,
        'name it: --activate-for USER, --roster FILE or --group NAME',
      );
    const issue =
      flags.provider.length === 0 ? null : await (await import('../../issuing/issuing.ts')).issuePlan(context, flags);
    const label = flags.label ? (await import('../labels/enrolled.ts')).keyLabelOf(context, flags) : null;
    if (roster !== undefined) {
      const { enrollRoster } = await import('../roster/roster.ts');
      const table = group === null ? flags : null;
      return enrollRoster(context, { ...common, issue, roster, group, table, bell, big, label, activateFor: null });
    }
    const user = flags.activateFor === undefined ? null : await checkedUser(flags.activateFor);
    const activateFor = user === null ? null : await boundName(context, user, '--activate-for');
    const ownNumber = flags.number ? ({ kind: 'auto' } as const) : printedBy(flags);
    return enrollKeys(context, { ...common, issue, count: flags.count ?? null, activateFor, label, ownNumber });
  },
});

/** One number is that of one key. */
function printedBy({ printed, count }: Pick<Flags, 'count'> & { readonly printed?: string | undefined }): OwnNumber {
  if (printed === undefined) return { kind: 'ask' };
  if (count !== 1) throw usage('--printed names one key', 'give --count 1 with it');
  return { kind: 'printed', number: printed };
}

interface Flags {
  readonly roster?: string | undefined;
  readonly activateFor?: string | undefined;
  readonly count?: number | undefined;
  readonly bell: boolean;
  readonly big: boolean;
}

/** A roster names the users and the number of keys; two flags need one. */
function checkRosterFlags({ roster, activateFor, count, bell, big }: Flags): void {
  if (roster === undefined && (bell || big)) throw usage(`${bell ? '--bell' : '--big'} needs --roster`);
  if (roster === undefined) return;
  if (activateFor !== undefined)
    throw usage('--roster and --activate-for cannot be combined', 'the roster names the users');
  if (count !== undefined)
    throw usage(
      '--roster specifies how many keys: --count cannot be given with it',
      'use the column count of the roster',
    );
}

/** Checked before the first key: the server would refuse it for every key. */
async function checkedUser(userId: string): Promise<string> {
  const { readBoundUser } = await import('../../../../contract/readers.ts');
  const outcome = readBoundUser({ userId });
  if (!outcome.ok) throw usage(`--activate-for: ${outcome.message}`, 'name the user to activate the keys for');
  return outcome.value.userId;
}

/** Resolves to the exit code. */
export const enrollKeys = (context: Context, options: EnrollOptions): Promise<number> =>
  withOpened(context, options, false, async ({ file, outbox, lacking, skipped, bindings, settled }) => {
    const { count: wanted, dryRun } = options;
    const earlier = (dryRun ? null : await file?.earlier()) ?? new Map<string, string | null>();
    for (const serialNumber of lacking) earlier.delete(serialNumber);
    const count = new KeyCount(earlier, wanted);
    const report = new EnrollReport(context, file, wanted, outbox);
    for (const row of settled) if (isOfRun(row, options)) count.settled(row);
    const parts = enrollmentParts(context);
    const person = { userId: options.activateFor };
    const enroll = (key: Key) =>
      outbox?.handle(key) ?? new KeyEnrollment(bindings?.partsOf(parts, key, person) ?? parts, options).handle(key);
    const run = new EnrollRun(context, options, { skipped, count, report, enroll, outbox, bindings });
    const isReached = await run.run();
    bindings?.end();
    return ended(context, options, { count, report, outbox, isReached });
  });

/** Whether a key that an earlier run has begun is one of those that this run is for. */
const isOfRun = ({ name, userId, result }: EnrollmentOutcome, { activateFor }: EnrollOptions): boolean =>
  name === undefined && userId === activateFor && (result === 'registered' || result === 'known');

interface Ending {
  readonly count: KeyCount;
  readonly report: EnrollReport;
  readonly outbox: SpoolOutbox | null;
  /** Whether the wanted number of keys is handled. */
  readonly isReached: boolean;
}

/** The exit code of a run that has ended. Keys that wait in the spool file are not registered yet. */
async function ended(context: Context, options: EnrollOptions, { count, report, outbox, isReached }: Ending) {
  if (context.io.interrupt.aborted) report.interrupted();
  await outbox?.finish();
  if (context.io.interrupt.aborted) {
    // Ctrl-C is how an enrollment without --count ends: the summary is its result, not an error.
    report.summary(count);
    return exitCodes.interrupted;
  }
  if (isReached) report.finished(count);
  else checkTimeout(options, count);
  if (outbox !== null && outbox.waiting > 0) return exitCodes.unreachable;
  const isEnough = isReached && outbox === null && count.refused === 0;
  return isEnough || count.failed === 0 ? exitCodes.done : exitCodes.partial;
}

/** Throws if the time was over before the wanted keys, or before any key. */
function checkTimeout({ count, timeoutSeconds }: EnrollOptions, { done, doneNow }: KeyCount): void {
  if (count === null && doneNow > 0) return;
  const wanted = count === null ? '' : ` (${done} of ${count} keys were handled)`;
  throw new Fault(
    'hardware',
    `no key was plugged in within ${timeoutSeconds} s${wanted}`,
    'plug in a key, and see whether it is found: devmgr keys',
  );
}
