import { DeviceCounts } from '../../../fleet/figures.ts';
import { counted } from '../../count.ts';
import { usage } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { exportedDevices } from '../../framework/devices/export-stream.ts';
import { filterFlags, filterOf } from '../../framework/devices/filter.ts';
import { tagsOf } from '../../framework/devices/tags.ts';
import { type FlagValues, fileFlag, globalFlags } from '../../framework/flags.ts';
import { writeNew } from '../../settings/files.ts';
import type { Format } from '../../terminal/output.ts';
import { safe } from '../../terminal/text.ts';
import { attemptsOf } from './attempts.ts';
import { changesOf } from './changes.ts';
import { type Figures, PersonCounts } from './figures.ts';

const flags = {
  ...filterFlags,
  results: {
    ...fileFlag('also count the attempts in these results of enroll --out, including failed ones; can be repeated'),
    many: 'whole',
  },
  names: { help: 'list the persons by user name and name, with the number of their devices' },
  output: {
    ...globalFlags.output,
    choices: ['text', 'csv', 'html', 'json', 'yaml'],
    aliases: ['format'],
    help: 'format of the report (default: from the name of --out, else text)',
  },
  out: fileFlag('write the report to this file instead of standard output'),
  force: { needs: 'out', help: 'overwrite an existing file' },
} as const;

/** Counts the devices of a lot, or of any selection. Changes nothing. */
export const report = command({
  isPaged: true,
  description:
    'Counts the matching devices by state, type, model and proof. Shows when and how fast they were registered, how many persons they are bound to, which codes were not used, and what was locked or deactivated later. With --results, also shows the failed attempts of enroll and the yield.\nHTML is one file for a browser or a printer; CSV has a row for each figure. A report contains no activation codes and no serial numbers, and lists persons only with --names. --json writes the figures to standard output, even if --out writes a file.',
  flags,
  examples: {
    'a lot': 'report --tag lot=7',
    'a lot with its failures, to print': 'report --tag lot=7 --results lot-7.csv --out lot-7.html',
    'who has keys of a lot': 'report --tag lot=7 --names',
    'for a spreadsheet': 'report --created-from 2026-11-01 --out november.csv',
  },
  async run({ flags }, context) {
    const { out } = context;
    const figures = await figuresOf(context, flags);
    const isEmpty = figures.total === 0 && !figures.attempts?.attempts;
    if (out.json) await out.document(figures);
    if (isEmpty) return out.json ? undefined : out.notice('No device matches.');
    if (out.json && flags.out === undefined) return;
    const format = out.json || out.format === 'table' ? formatOf(flags.out) : out.format;
    const isToScreen = flags.out === undefined;
    const text = await composed(context, figures, format, isToScreen);
    if (flags.out === undefined) return out.text(text);
    writeNew(flags.out, text, flags.force);
    notify(context, `Wrote ${safe(flags.out)}.`);
  },
});

type Values = FlagValues<typeof flags>;

async function figuresOf(context: Context, flags: Values): Promise<Figures> {
  if (flags.out !== undefined) checkOut(flags.out, flags.results);
  const filter = filterOf(flags);
  const attempts = await attemptsOf(flags.results, tagsOf(flags.tag), (file, rows) =>
    notify(
      context,
      `${counted(rows, 'row')} of ${safe(file)} not counted: incomplete, or changed after being written.`,
    ),
  );
  const generatedAt = new Date();
  const counts = new DeviceCounts();
  const persons = flags.names ? new PersonCounts() : null;
  for await (const device of exportedDevices(context, persons ? { ...filter, names: true } : filter)) {
    counts.take(device);
    persons?.take(device);
  }
  const { figures } = counts;
  return {
    generatedAt: generatedAt.toISOString(),
    criteria: JSON.parse(JSON.stringify(filter)),
    ...figures,
    ...persons?.figures,
    codes: { unused: figures.byStatus.INACTIVE, expired: await expiredCodes(context, filter, generatedAt) },
    changes: await changesOf(context, counts.ids, counts.first),
    attempts,
  };
}

/** A report that replaces the results that it reads would lose them. */
function checkOut(out: string, results: readonly string[]): void {
  if (results.includes(out)) throw usage(`${out} is also in --results`, 'name another file with --out');
}

type Filter = ReturnType<typeof filterOf>;

/** INACTIVE devices whose code has expired: one request, because a list item does not have the time. */
async function expiredCodes({ registry }: Context, filter: Filter, now: Date): Promise<number> {
  if (filter.status !== undefined && !filter.status.includes('INACTIVE')) return 0;
  const given = filter.codeExpiresBefore;
  const codeExpiresBefore = given !== undefined && given < now ? given : now;
  const { pagination } = await registry.call('listDevices', {
    query: { ...filter, status: ['INACTIVE'], codeExpiresBefore, size: 1 },
  });
  return pagination.total;
}

function formatOf(out: string | undefined): Format {
  const [, ending] = /\.(csv|html?)$/i.exec(out ?? '') ?? [];
  if (ending === undefined) return 'text';
  return ending.toLowerCase() === 'csv' ? 'csv' : 'html';
}

/** Columns of a text in a file. */
const fileColumns = 60;

async function composed({ out }: Context, figures: Figures, format: Format, isToScreen: boolean): Promise<string> {
  if (format === 'csv') return (await import('./csv.ts')).reportCsv(figures);
  if (format === 'html') return (await import('./html.ts')).reportHtml(figures);
  const { reportText } = await import('./text.ts');
  const plain = { columns: fileColumns, paint: (_: unknown, text: string) => text };
  return reportText(isToScreen ? { columns: out.io.columns, paint: out.paint } : plain, figures);
}
