/** The groups inside the groups of the settings, at any depth: entries of persons name only the groups that they are direct members of. */
import { directoryBounds } from '../../../src/contract/limits.ts';
import { DirectoryFailure } from './connection.ts';
import { comparable, type DirectoryGroup } from './person-entry.ts';

type InnerGroup = Pick<DirectoryGroup, 'dn' | 'number'>;

/** The groups, each followed by those inside it under its name. `insideOf`: the groups that are direct members of one. Circles end. */
export async function withNested(
  groups: readonly DirectoryGroup[],
  insideOf: (dn: string) => Promise<readonly InnerGroup[]>,
): Promise<DirectoryGroup[]> {
  const read = new Map<string, readonly InnerGroup[]>();
  const all: DirectoryGroup[] = [];
  for (const group of groups) {
    const found = new Map([[comparable(group.dn), group]]);
    // The loop also visits what is added in it.
    for (const [outer, { dn }] of found) {
      const inside = read.get(outer) ?? (await insideOf(dn));
      read.set(outer, inside);
      if (read.size > directoryBounds.nestedGroups)
        throw new DirectoryFailure(
          `has more than ${directoryBounds.nestedGroups} groups inside those of the settings: choose smaller groups`,
        );
      for (const inner of inside)
        if (!found.has(comparable(inner.dn))) found.set(comparable(inner.dn), { ...inner, name: group.name });
    }
    all.push(...found.values());
  }
  return all;
}
