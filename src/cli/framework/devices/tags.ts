/** Tags on the command line: flags, and how they are shown. */
import type { DeviceListItem } from '../../../contract/devices.ts';
import { isTagName, readTags, type Tag, TagFault, type Tags, tagNameWords } from '../../../contract/tags.ts';
import { deviceListFields, proofColumn, tagColumn } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import { safe } from '../../terminal/text.ts';

/** Fields of a device in a list. In CSV, `tags` is a column for each tag, and `proof` is its grade. */
export const deviceFields = [...deviceListFields, proofColumn, 'tags'] as const;

/** A flag that takes `NAME=VALUE` and can be repeated. */
export const tagFlag = <const Help extends string>(help: Help) =>
  ({ value: 'NAME=VALUE', many: 'whole', field: 'tags', help }) as const;

/** The tag in `NAME=VALUE`, or in `NAME:VALUE` as the interface has it. Throws a usage fault that names the flag. */
export function tagOf(flag: string, pair: string): Tag {
  // Neither sign can be in a name.
  const at = pair.search(/[=:]/);
  if (at < 0)
    throw usage(`${flag} "${pair}" is not NAME=VALUE`, `for example ${flag}${flag.includes(' ') ? '=' : ' '}lot=7`);
  const name = tagNameOf(flag, pair.slice(0, at));
  if (pair.slice(at + 1).trim() === '') throw usage(`${flag} ${name} has no value`);
  const tags = readTags({ [name]: pair.slice(at + 1) });
  if (tags instanceof TagFault) throw usage(`${flag} ${name} ${tags.message}`);
  return { name, value: tags[name]! };
}

/** The name of a tag. Throws a usage fault that names the flag. */
export function tagNameOf(flag: string, text: string): string {
  const name = text.trim();
  if (!isTagName(name)) throw usage(`${flag}: "${name}" is not a name of a tag`, `a name is ${tagNameWords}`);
  return name;
}

/** The tags of all `--tag` flags. Throws a usage fault; a name that is given twice is one. */
export function tagsOf(pairs: readonly string[]): Tags {
  const tags: Record<string, string> = {};
  for (const pair of pairs) {
    const { name, value } = tagOf('--tag', pair);
    if (Object.hasOwn(tags, name)) throw usage(`--tag ${name} is given twice`);
    tags[name] = value;
  }
  return tags;
}

/** The tags of a device for people, `lot=7` each; those of a server without tags are none. */
export const tagWords = ({ tags }: { readonly tags?: Tags }): string[] =>
  Object.entries(tags ?? {}).map(([name, value]) => safe(`${name}=${value}`));

/** The names of the tags of the devices, sorted. A server could send others than names that can be in a header. */
export const tagNamesOf = (devices: readonly DeviceListItem[]): string[] =>
  [...new Set(devices.flatMap(({ tags }) => Object.keys(tags ?? {})))].filter(isTagName).sort();

/** The names in the header of an exported CSV. */
export const tagNamesIn = (header: string): string[] =>
  header
    .trimEnd()
    .split(',')
    .filter(cell => cell.startsWith(tagColumn))
    .map(cell => cell.slice(tagColumn.length))
    .filter(isTagName);

/** The columns of CSV for the fields: `tags` is a column for each name. */
export const csvFields = (fields: readonly string[], names: readonly string[]): readonly string[] =>
  fields.flatMap(field => (field === 'tags' ? names.map(name => tagColumn + name) : [field]));

/** A device with its tags and its proof as cells of CSV. */
export function withCells(device: DeviceListItem): object {
  const cells = Object.entries(device.tags ?? {}).map(([name, value]) => [tagColumn + name, value]);
  return { ...device, [proofColumn]: device.proof?.grade ?? null, ...Object.fromEntries(cells) };
}
