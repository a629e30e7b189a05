import { command } from '../../define.ts';
import { about, aboutText } from '../../version.ts';

export const versionCommand = command({
  name: 'version',
  summary: 'show the version, the build and what is in it',
  description:
    'Node, SQLite and the packages with native code, as they are in this copy. The same as devmgr --version. With --quiet the bare version.',
  flags: { licences: { help: 'write the licences of all whose code is in this copy' } },
  examples: [
    { does: 'for a report', line: 'version' },
    { does: 'for a script', line: 'version --quiet' },
    { does: 'for whoever hands the program on', line: 'version --licences' },
  ],
  async run({ flags }, { out, globals }) {
    if (flags.licences) return out.text((await import('../../settings/packaged.ts')).readLicences());
    const facts = about();
    if (globals.json) await out.document(facts);
    else await out.text(globals.quiet ? `${facts.version}\n` : aboutText(facts));
  },
});
