/** `activate`, `lock`, `unlock`, `deactivate` and `code` for many devices: checks, asks once, and runs. */
import type { BatchOperation } from '../../../../contract/values.ts';
import { usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { checkInput, isRegular } from '../../../jobs/input-file.ts';
import type { BulkFlags } from './flags.ts';
import { bulkFiles } from './results.ts';
import { BulkChangeRun } from './run.ts';
import { confirmChange, filterOfPairs } from './selection.ts';
import { checkNames } from './source.ts';

/** A change of several devices. */
export interface BulkChange {
  readonly operation: BatchOperation;
  readonly names: readonly string[];
  readonly flags: BulkFlags & { readonly plugged: boolean };
  /** Asks for the fields of all items that were not given as flags. */
  readonly fields: () => Promise<Readonly<Record<string, unknown>>>;
  /** Called after the run with the devices that it has changed. */
  readonly changed?: (deviceIds: readonly string[]) => Promise<void>;
  /** Asks for the password that the operation needs. */
  readonly password?: () => Promise<string>;
}

/** Changes the devices. The exit code; throws a fault of kind `partial` if some failed. */
export async function changeMany(context: Context, change: BulkChange): Promise<number> {
  check(context, change);
  const { operation, names, flags } = change;
  if (flags.dryRun) {
    const { planChange } = await import('./dry-run.ts');
    return planChange(context, operation, names, flags);
  }
  const files = bulkFiles(context, operation, flags);
  if (files?.canContinue === false)
    notify(context, `${flags.out} cannot be continued with --resume: it is not a file, or its folder is not writable.`);
  try {
    const common = await change.fields();
    await checkFields(common);
    const run = new BulkChangeRun(context, operation, common, files, change.changed);
    const prepared = await prepare(context, change, run).catch(error => {
      files?.discard();
      throw error;
    });
    if (prepared === null) files?.finish();
    return prepared === null ? 0 : await run.run(prepared.password);
  } finally {
    files?.close();
  }
}

/** Everything before the first change. Null if there is nothing to change. */
async function prepare(
  context: Context,
  change: BulkChange,
  run: BulkChangeRun,
): Promise<{ readonly password: string | undefined } | null> {
  const total = await run.select(change.names, change.flags);
  if (total === 0) return null;
  if (!change.flags.yes && context.canAsk && total !== null) await confirmChange(context, change.operation, total);
  return { password: await change.password?.() };
}

/** The rules of the interface: a wrong value would fail once per device. */
async function checkFields(common: Readonly<Record<string, unknown>>): Promise<void> {
  const { faultOf } = await import('../../../../contract/readers.ts');
  for (const [field, flag] of [
    ['reason', '--reason'],
    ['note', '--note'],
    ['userId', '--user'],
  ] as const) {
    const value = common[field];
    const fault = typeof value === 'string' ? faultOf(field, value) : null;
    if (fault !== null) throw usage(`${flag} ${fault}`);
  }
}

/** Everything that can be said before anything is asked or read. */
function check(context: Context, { operation, names, flags }: BulkChange): void {
  const { file, filter, out, resume, yes, plugged, dryRun } = flags;
  if (plugged) throw usage('--plugged names one device', 'change the others with another command');
  checkNames(names, file !== undefined ? '--file' : filter.length > 0 ? '--filter' : null);
  if (names.length === 0 && file === undefined && filter.length === 0)
    throw usage('no device is named', 'name devices, or use --file or --filter');
  filterOfPairs(filter);
  if (file !== undefined) checkInput({ file, out, resume });
  if (dryRun) return;
  // A stream cannot be read twice: to count the devices, and to change them.
  const isStream = file !== undefined && !isRegular(file);
  const mustConfirm = file !== undefined || filter.length > 0 || operation === 'DEACTIVATE';
  if (!yes && mustConfirm && (!context.canAsk || isStream))
    throw usage('a change of many devices must be confirmed', 'add --yes');
}
