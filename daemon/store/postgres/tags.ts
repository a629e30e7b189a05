/** Tags of devices, as they are stored: a line `name:value` for each, sorted by name; null if there are none. An index has the lines. */
import { hasTags, noTags, type Tag, type Tags, tagText, tagTexts } from '../../../src/contract/tags.ts';

/** Throws if a value has a line break, which the contract does not allow. */
export function tagLines(tags: Tags): string | null {
  if (!hasTags(tags)) return null;
  const lines = tagTexts(tags);
  if (lines.some(line => line.includes('\n'))) throw new Error('the value of a tag has a line break');
  return lines.join('\n');
}

/** The tags in a column. */
export function tagsOf(lines: string | null): Tags {
  if (lines === null) return noTags;
  return Object.fromEntries(
    lines.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

/** The lines of a device as an array, as the index has them. */
export const tagArray = `string_to_array(tags, E'\\n')`;

/** The value for `tagArray @>`: these tags. */
export const wantedLines = (tags: readonly Tag[]): string[] => tags.map(tagText);
