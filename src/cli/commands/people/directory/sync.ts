import type { DirectoryStep } from '../../../../contract/directory.ts';
import { directoryBounds } from '../../../../contract/limits.ts';
import { count } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { command } from '../../../framework/define.ts';
import { listFlags } from '../../../framework/format.ts';
import { presentRows } from '../../../framework/present-list.ts';
import type { Column } from '../../../terminal/column.ts';
import type { Style } from '../../../terminal/style.ts';
import { safe } from '../../../terminal/text.ts';

const fields = ['step', 'personId', 'userName', 'detail'] as const satisfies readonly (keyof DirectoryStep)[];
const colors: Readonly<Partial<Record<DirectoryStep['step'], Style>>> = {
  new: 'green',
  left: 'red',
  held: 'red',
  skipped: 'yellow',
};
const columns: Column<DirectoryStep>[] = [
  { title: 'WHAT', value: ({ step }) => step, style: ({ step }) => colors[step] ?? null },
  { title: 'PERSON', value: ({ personId }) => personId },
  { title: 'USER NAME', value: ({ userName }) => userName, shorten: 'end' },
  { title: 'DETAIL', value: ({ detail }) => detail, shorten: 'end' },
];

/** Compares persons with the directory: `POST /api/directory/sync`. Exit code 1 if there is a problem. */
export const directorySync = command({
  description: `Reads all entries now. Persons who are disabled or missing are recorded as leavers, and their keys are locked; if there are too many at once, they are held (devmgr people held). Nothing is changed if an error occurs, or if no entries are found, fewer than half of the known persons, or new user names for more than half. At most ${directoryBounds.shown} lines are shown.`,
  flags: {
    'dry-run': { help: 'show what would change, and change nothing' },
    'accept-missing': { help: 'continue even if more than half of the persons are missing or renamed' },
    ...listFlags(fields),
  },
  examples: [
    { does: 'what would change', line: 'directory sync --dry-run' },
    { does: 'now, instead of at the next run', line: 'directory sync' },
    {
      does: 'who would leave',
      line: 'directory sync --dry-run --jq \'.list[] | select(.step == "left") | .userName\'',
    },
  ],
  async run({ flags }, context) {
    const { registry, out } = context;
    const body = { dryRun: flags.dryRun, acceptMissing: flags.acceptMissing };
    const report = await registry.call('syncDirectory', { body });
    const { counts, problem, list } = report;
    if (out.json) await out.document(report);
    else if (list.length > 0) await presentRows(context, list, { fields, columns, id: 'personId' });
    const { read, ...steps } = counts;
    const found = Object.entries(steps).filter(([, number]) => number > 0);
    const words = found.map(([step, number]) => `${count(number)} ${safe(step)}`).join(', ') || 'nothing differs';
    out.notice(`${count(read)} entries: ${words}${report.dryRun ? ' (nothing was changed)' : ''}`);
    if (problem === null) return exitCodes.done;
    out.notice(`Problem: ${safe(problem)}`);
    return exitCodes.failure;
  },
});
