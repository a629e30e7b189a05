/** The members of a group as a roster. */
import type { Person } from '../../../../enrollment/line/people.ts';
import { RosterReader } from '../../../../enrollment/line/roster.ts';
import type { Client } from '../../../client/client.ts';
import { pagesOf } from '../../../client/pages.ts';
import { Fault, usage } from '../../../fault.ts';

/** The active members of a group, in the order in which they were added: a key for each. A fault if there are none. */
export async function readGroup(registry: Client, group: string): Promise<readonly Person[]> {
  const roster = new RosterReader();
  let line = 1;
  roster.add(line, ['userId', 'name']);
  const read = (page: number) =>
    registry.call('listPeople', { query: { group, active: true, sortOrder: 'asc', page, size: 100 } });
  for await (const { list } of pagesOf(read, person => person.personId))
    for (const { userName, name } of list)
      if (roster.add(++line, [userName, name ?? '']) !== null)
        throw usage(`the group "${group}" cannot be a roster: ${userName}`, 'use --roster with a file');
  if (roster.people.length > 0) return roster.people;
  throw new Fault('absent', `the group "${group}" has no active member`, 'see: devmgr people list');
}
