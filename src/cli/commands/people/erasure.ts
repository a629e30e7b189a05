/** The report about one person, as a file, and the erasure of a person. */
import { usage } from '../../fault.ts';
import { readPassword } from '../../framework/ask.ts';
import { command } from '../../framework/define.ts';
import { fileFlag, passwordFlags } from '../../framework/flags.ts';
import { findPerson, personArg, personWords } from '../../framework/persons.ts';
import { present } from '../../framework/present.ts';
import { jsonText, writeNew } from '../../settings/files.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** Writes the report: `GET /api/people/{personId}/report`. */
export const peopleReport = command({
  description:
    'Writes all data that the registry has about a person as one JSON document, without secrets. Only you can read the file. Without --out, the document is printed.',
  args: [personArg],
  flags: {
    out: fileFlag('write the report to this file'),
    force: { help: 'replace a file that exists' },
  },
  examples: { 'the report as a file': 'people report ada.lovelace --out ada.json' },
  async run({ args, flags }, context) {
    const { out, registry, globals } = context;
    const person = await findPerson(registry, args[0]!);
    const data = await registry.call('reportPerson', { params: { personId: person.personId } });
    if (flags.out === undefined || flags.out === '-') return out.document(data);
    writeNew(flags.out, jsonText(data), flags.force ?? false);
    if (globals.json) await out.document({ file: flags.out, complete: data.complete });
    else await out.text(`${safe(personWords(person))}: written to ${safe(flags.out)}\n`);
    if (!data.complete) out.notice('The report is not complete: the person has too many devices or entries.');
  },
});

/** Erases a person: `POST /api/people/{personId}/erase`. */
export const peopleErase = command({
  description:
    'Permanently replaces names, addresses and external ids of a person who has left with the person id, and rewrites the database. The case must be closed: devmgr people case close. Shows what the erasure does not reach. Repeat it after the restore of an older backup.',
  args: [personArg],
  flags: { yes: { short: 'y', help: 'do not ask for confirmation' }, ...passwordFlags },
  examples: { 'asks for confirmation and the password': 'people erase PER-7' },
  async run({ args, flags }, context) {
    const { out, registry } = context;
    const { personId, ...person } = await findPerson(registry, args[0]!);
    if (!flags.yes) {
      if (!context.canAsk) throw usage('an erasure is permanent and must be confirmed', 'add --yes');
      await demandYes(out, `Erase ${safe(personWords(person))} permanently?`);
    }
    const body = { confirmPassword: await readPassword(context, flags, "An administrator's password") };
    const data = await registry.call('erasePerson', { params: { personId }, body });
    const devices = textsIn(data.devices).map(safe).join(' ');
    await present(context, {
      data,
      id: personId,
      title: `${safe(personId)} is erased`,
      rows: [
        ['devices', devices || null],
        ...data.remains.map(
          ({ where, what, until }) =>
            [
              `not reached: ${safe(where)}`,
              `${safe(what)}${until === null ? '' : ` (until ${localTime(until)})`}`,
            ] as const,
        ),
      ],
    });
  },
});
