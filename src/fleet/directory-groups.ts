/** Groups of a directory, as people write them. No I/O. */
import type { DirectorySettings } from '../contract/directory.ts';

type DirectoryGroup = DirectorySettings['groups'][number];

/** The group of `DN` or `NAME=DN`; null if the text is none. In a DN the first comma is before the second `=`. */
export function directoryGroup(text: string): DirectoryGroup | null {
  const at = text.indexOf('=');
  const rest = text.slice(at + 1);
  const [value = ''] = rest.split(',', 1);
  if (at < 1) return null;
  if (!value.includes('=')) return { name: value.trim(), dn: text };
  return { name: text.slice(0, at).trim(), dn: rest };
}

/** The text of a group. */
export const directoryGroupText = ({ name, dn }: DirectoryGroup): string => `${name}=${dn}`;
