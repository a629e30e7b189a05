import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about providers at which keys are issued, in the order of the help. */
export const idpEntries: readonly Entry[] = [
  entry(
    'idp list',
    'list the providers that keys sign in at',
    async () => (await import('./idp.ts')).idpList,
    'idp ls',
  ),
  entry('idp add', 'add a provider', async () => (await import('./idp.ts')).idpAdd),
  entry('idp test', 'check that a provider answers', async () => (await import('./idp.ts')).idpTest),
  entry(
    'idp reconcile',
    'compare credentials with a provider',
    async () => (await import('./reconcile.ts')).idpReconcile,
  ),
  entry('idp remove', 'remove a provider', async () => (await import('./idp.ts')).idpRemove, 'idp rm'),
];
