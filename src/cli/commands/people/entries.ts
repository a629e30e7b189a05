import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about persons, in the order of the help. */
export const peopleEntries: readonly Entry[] = [
  entry('people list', 'list persons', async () => (await import('./people.ts')).peopleList, 'people ls'),
  entry('people show', 'show a person', async () => (await import('./people.ts')).peopleShow),
  entry('people add', 'add a person', async () => (await import('./people.ts')).peopleAdd),
  entry('people keys', 'list the keys of a person', async () => (await import('./keys.ts')).peopleKeys),
  entry('people leave', 'lock all keys of a person who leaves', async () => (await import('./leavers.ts')).peopleLeave),
  entry('people back', 'record that a person is back', async () => (await import('./leavers.ts')).peopleBack),
  entry(
    'people held',
    'list leavers whose keys wait for a release',
    async () => (await import('./leavers.ts')).peopleHeld,
  ),
  entry('people release', 'lock the keys of held leavers', async () => (await import('./leavers.ts')).peopleRelease),
];
