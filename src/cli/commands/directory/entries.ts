import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about the directory, in the order of the help. */
export const directoryEntries: readonly Entry[] = [
  entry(
    'directory show',
    'show how persons are read from a directory',
    async () => (await import('./directory.ts')).directoryShow,
  ),
  entry('directory set', 'read persons from an LDAP directory', async () => (await import('./set.ts')).directorySet),
  entry('directory test', 'check the directory', async () => (await import('./directory.ts')).directoryTest),
  entry('directory sync', 'read the directory now', async () => (await import('./sync.ts')).directorySync),
  entry(
    'directory remove',
    'end the use of the directory',
    async () => (await import('./directory.ts')).directoryRemove,
    'directory rm',
  ),
];
