import { licencesOfAll } from '../lib/licences-of-all.mjs';
import { put } from './tree.mjs';

/** Writes who holds the rights in what is in the program, and under which licence: the project, Node, every package. */
export async function writeCopyright(tree) {
  put(tree, 'usr/share/doc/devmgr/copyright', Buffer.from(withoutCommonLicences(await licencesOfAll())));
}

/** Debian keeps one copy of the text of the Apache licence for all packages. Some packages put empty lines into its title. */
export function withoutCommonLicences(text) {
  return text.replace(
    /^[ \t]*Apache License\s+Version 2\.0, January 2004\n[\s\S]*?END OF TERMS AND CONDITIONS$/gm,
    '  The text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.',
  );
}
