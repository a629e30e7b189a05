/** What is held about one person, as a file. */

import { command } from '../../framework/define.ts';
import { fileFlag } from '../../framework/flags.ts';
import { findPerson, personArg, personWords } from '../../framework/persons.ts';
import { jsonText, writeNew } from '../../settings/files.ts';
import { safe } from '../../terminal/text.ts';

/** Writes the report: `GET /api/people/{personId}/report`. */
export const peopleReport = command({
  description:
    'Writes all that the registry holds about a person as one JSON document, without secrets. The file is readable by you alone. Without --out it is printed.',
  args: [personArg],
  flags: {
    out: fileFlag('write the report to this file'),
    force: { help: 'replace a file that exists' },
  },
  examples: [{ does: 'the report as a file', line: 'people report ada.lovelace --out ada.json' }],
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
