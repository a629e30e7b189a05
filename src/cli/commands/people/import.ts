/** `people import`: adds and updates persons of a file, whatever system wrote it. A person who is missing in it never leaves. */
import { personFields } from '../../../tables/fields.ts';
import { openPersons, type PersonFile } from '../../../tables/persons.ts';
import { usage } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { type FlagValues, fileFlag } from '../../framework/flags.ts';
import { checkInput, nameOf, noticeOf } from '../../jobs/input-file.ts';
import { JobFiles } from '../../jobs/job-files.ts';
import { bytesOf, encodingFault, readable, readableRows, type TableWords } from '../../jobs/table-file.ts';
import { keepMap, leaverCondition, tableChoices, tableFlags } from '../../jobs/table-flags.ts';
import { noteDoubts, previewTable } from '../../jobs/table-preview.ts';
import { inputJob } from '../many/import/checkpoint.ts';
import { importRows, resultColumns } from './import-rows.ts';
import { isProgress, type PeopleFiles, PeopleImportRun } from './import-run.ts';

const words: TableWords = {
  none: 'has no persons',
  needs: 'it needs one person on each line after the header row',
  flagOf: {},
};

const flags = {
  leavers: {
    value: 'COLUMN=VALUE',
    many: 'whole',
    help: 'record that persons with this value in this column leave: their keys are locked; can be repeated for other values of the column',
  },
  adopt: { help: 'also update persons who were added by hand: they become imported ones' },
  ...tableFlags(),
  'dry-run': { help: 'show who is new, who changes and how, and change nothing' },
  out: fileFlag('write the results to this file'),
  resume: { help: 'continue where an interrupted run stopped' },
  force: { help: 'start over; existing results are kept as FILE.before', conflicts: ['resume', 'dry-run'] },
} as const;

/** Imports persons: `POST /api/people/import`. */
export const peopleImport = command({
  description:
    'Reads exports of Okta, Entra ID, Google Workspace, Active Directory, BambooHR, Snipe-IT and others: CSV, .xlsx, JSON or LDIF. A person is found by the user name. New persons are added; a different name or address is replaced; an empty cell changes nothing. A person from an identity provider or a directory is listed as failed if the file differs. Persons whom the file marks as inactive are skipped; only --leavers records that someone leaves.',
  args: [{ name: 'FILE', help: 'the list; - is standard input' }],
  flags,
  examples: {
    'what would change': 'people import okta-users.csv --dry-run',
    'with a column of logins that is not known': 'people import staff.csv --map "userId=Personnel login"',
    'and lock the keys of those who are marked': 'people import staff.csv --leavers Status=Terminated',
  },
  run: ({ args, flags: values }, context) => importPeople(context, args[0]!, values),
});

async function importPeople(context: Context, file: string, values: FlagValues<typeof flags>): Promise<number> {
  const { dryRun, resume, force, adopt } = values;
  const out = dryRun ? undefined : values.out;
  if (dryRun && resume) throw usage('--dry-run and --resume cannot be combined');
  checkInput({ file, out, resume });
  const read = await opened(context, file, values);
  const { table } = read;
  const files: PeopleFiles = new JobFiles({
    ...inputJob(context, file, out, resultColumns),
    isProgress,
  });
  try {
    const copy = force ? files.setAside() : null;
    if (copy !== null) notify(context, `${files.results} was renamed to ${copy}.`);
    if (!force && !resume && !dryRun) files.demandUnused();
    previewTable(context, nameOf(file), table, { given: {}, dryRun });
    const before = table.doubts.length;
    const rows = importRows(readableRows(file, words, read.rows));
    const options = { dryRun, adopt, resume, hasOut: out !== undefined };
    try {
      return await new PeopleImportRun(context, options, rows, files).run();
    } finally {
      noteDoubts(context, nameOf(file), table.doubts.slice(before));
    }
  } finally {
    files.close();
    const fault = encodingFault(file, table);
    if (fault !== null) notify(context, noticeOf(fault));
    if (table.dropped.words !== null) notify(context, table.dropped.words);
  }
}

/** The file, as the flags describe it. Throws a usage fault. */
async function opened(context: Context, file: string, values: FlagValues<typeof flags>): Promise<PersonFile> {
  const choices = tableChoices(context, values, personFields);
  const leavers = leaverCondition(values.leavers);
  const persons = await readable(file, words, () =>
    openPersons(bytesOf({ file, stdin: context.io.stdin }), { ...choices, file, leavers }),
  );
  await keepMap(context, values);
  return persons;
}
