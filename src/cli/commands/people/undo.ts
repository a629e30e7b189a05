/** Undoes a batch of changes of a source of persons. */
import type { BodyOf } from '../../../contract/define.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { UndoStep } from '../../../contract/undo.ts';
import { counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { eventFlags } from '../../framework/devices/event-selection.ts';
import { timeOrAge } from '../../framework/devices/filter.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';

type Batch = Omit<BodyOf<Routes['undoPeople']>, 'dryRun' | 'after'>;

/** `POST /api/people/undo`. */
export const peopleUndo = command({
  description:
    'Undoes the changes of a source of persons, of people import or of people match: persons who left through it are active again, with their former names, addresses and external ids, and each key belongs to its person again. Stop the source first, or it sends the same changes again.\nBATCH is the id of a request or, with --since, who made the changes; people log shows both. Keys that were changed later are listed and left as they are. The brake does not apply.\nShows the changes first, and asks. After an interruption, the same command continues.',
  args: [{ name: 'BATCH', help: 'id of a request, or who made the changes, such as token:okta' }],
  flags: {
    since: { ...eventFlags.since, help: 'changes made at or after this time, or since this long ago: 2h' },
    until: { ...eventFlags.until, help: 'changes made before this time' },
    'dry-run': { help: 'show what would be undone' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
  },
  examples: {
    'what one request has changed': 'people undo 3f2a9c-17 --dry-run',
    'what a provider has sent within two hours, after a confirmation': 'people undo token:okta --since 2h',
  },
  async run({ args, flags }, context) {
    const { out } = context;
    const batch = batchOf(args[0]!, flags.since, flags.until);
    const planned = await take(context, batch, true);
    const restored = planned.filter(({ outcome }) => outcome === 'restored').length;
    if (planned.length === 0) {
      out.notice('This batch has no changes to undo. See: devmgr people log');
      return exitCodes.done;
    }
    if (flags.dryRun || restored === 0 || !flags.yes)
      await show(context, planned, restored === 0 || flags.dryRun === true);
    if (flags.dryRun || restored === 0) return end(context, planned, 'would be undone');
    if (!flags.yes) {
      if (!context.canAsk) throw usage(`${changesIn(restored)} would be undone`, 'add --yes');
      await demandYes(out, `Undo ${changesIn(restored)}?`);
    }
    const done = await take(context, batch, false);
    await show(context, done, true);
    return end(context, done, 'undone');
  },
});

const changesIn = (steps: number): string => counted(steps, 'change');

function batchOf(named: string, since: string | undefined, until: string | undefined): Batch {
  if (since === undefined) {
    if (until !== undefined) throw usage('--until needs --since', 'add --since TIME');
    return { requestId: named };
  }
  return {
    actor: named,
    from: timeOrAge('--since', since),
    ...definedFields({ to: until === undefined ? undefined : timeOrAge('--until', until) }),
  };
}

async function take({ registry, out }: Context, batch: Batch, dryRun: boolean): Promise<UndoStep[]> {
  const steps: UndoStep[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const body: BodyOf<Routes['undoPeople']> = { ...batch, dryRun, after };
    const { list, next, total } = await registry.call('undoPeople', { body });
    steps.push(...list);
    if (!dryRun) out.progress.show('Undoing', next ?? total, total);
    after = next;
  }
  return steps;
}

/** `isResult`: rows are the output of the command, not the question. */
async function show({ out, globals }: Context, steps: readonly UndoStep[], isResult = false): Promise<void> {
  for (const step of steps)
    if (globals.json) {
      if (isResult) await out.row(step);
    } else if (isResult) await out.text(`${wordsOf(step)}\n`);
    else out.notice(wordsOf(step));
}

const marks = { restored: '✓', unchanged: '=', left: '✗' } as const;

function wordsOf({ id, name, outcome, changes, reason }: UndoStep): string {
  const fields = changes.map(({ field, before, after }) => `${field} ${before ?? 'none'} → ${after ?? 'none'}`);
  const what = [fields.join(', '), outcome === 'unchanged' ? 'is as before' : reason].filter(Boolean).join('; ');
  return safe(`${marks[outcome] ?? outcome} ${id}${name === null ? '' : ` (${name})`}: ${what}`);
}

function end({ out, globals }: Context, steps: readonly UndoStep[], done: string): number {
  const left = steps.filter(({ outcome }) => outcome === 'left').length;
  const restored = steps.filter(({ outcome }) => outcome === 'restored').length;
  if (!globals.json) out.notice(`${changesIn(restored)} ${done}${left === 0 ? '' : `, ${left} left alone`}.`);
  return left > 0 ? exitCodes.partial : exitCodes.done;
}
