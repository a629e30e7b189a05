/** Commands that begin with the same noun, in the order of the help. */
import type { Entry } from '../framework/define.ts';
import { entry } from './entry.ts';

/** The commands about persons, in the order of the help. */
export const peopleEntries: readonly Entry[] = [
  entry('people list', 'list persons', async () => (await import('./people/people.ts')).peopleList, 'people ls'),
  entry('people show', 'show a person', async () => (await import('./people/people.ts')).peopleShow),
  entry('people add', 'add a person', async () => (await import('./people/people.ts')).peopleAdd),
  entry('people keys', 'list the keys of a person', async () => (await import('./people/keys.ts')).peopleKeys),
  entry(
    'people leave',
    'lock all keys of a person who leaves',
    async () => (await import('./people/leavers.ts')).peopleLeave,
  ),
  entry('people back', 'record that a person is back', async () => (await import('./people/leavers.ts')).peopleBack),
  entry(
    'people held',
    'list leavers whose keys wait for a release',
    async () => (await import('./people/leavers.ts')).peopleHeld,
  ),
  entry(
    'people release',
    'lock the keys of held leavers',
    async () => (await import('./people/leavers.ts')).peopleRelease,
  ),
];

/** The commands about the directory, in the order of the help. */
export const directoryEntries: readonly Entry[] = [
  entry(
    'directory show',
    'show how persons are read from a directory',
    async () => (await import('./people/directory/directory.ts')).directoryShow,
  ),
  entry(
    'directory set',
    'read persons from an LDAP directory',
    async () => (await import('./people/directory/set.ts')).directorySet,
  ),
  entry(
    'directory test',
    'check the directory',
    async () => (await import('./people/directory/directory.ts')).directoryTest,
  ),
  entry(
    'directory sync',
    'read the directory now',
    async () => (await import('./people/directory/sync.ts')).directorySync,
  ),
  entry(
    'directory remove',
    'end the use of the directory',
    async () => (await import('./people/directory/directory.ts')).directoryRemove,
    'directory rm',
  ),
];

/** The commands about single sign-on, in the order of the help. */
export const ssoEntries: readonly Entry[] = [
  entry(
    'sso show',
    'show how people sign in at the provider',
    async () => (await import('./users/sso/sso.ts')).ssoShow,
  ),
  entry('sso set', 'sign people in at a provider', async () => (await import('./users/sso/set.ts')).ssoSet),
  entry('sso test', 'check the provider', async () => (await import('./users/sso/sso.ts')).ssoTest),
  entry('sso remove', 'end single sign-on', async () => (await import('./users/sso/sso.ts')).ssoRemove, 'sso rm'),
];

/** The commands about providers at which keys are issued, in the order of the help. */
export const idpEntries: readonly Entry[] = [
  entry(
    'idp list',
    'list the providers that keys sign in at',
    async () => (await import('./enrollment/issuing/idp.ts')).idpList,
    'idp ls',
  ),
  entry('idp add', 'add a provider', async () => (await import('./enrollment/issuing/idp.ts')).idpAdd),
  entry('idp test', 'check that a provider answers', async () => (await import('./enrollment/issuing/idp.ts')).idpTest),
  entry(
    'idp reconcile',
    'compare credentials with a provider',
    async () => (await import('./enrollment/issuing/reconcile.ts')).idpReconcile,
  ),
  entry(
    'idp remove',
    'remove a provider',
    async () => (await import('./enrollment/issuing/idp.ts')).idpRemove,
    'idp rm',
  ),
];

/** The commands about receipts, in the order of the help. */
export const receiptEntries: readonly Entry[] = [
  entry(
    'receipt make',
    'have a key sign a hand-over, loan or return',
    async () => (await import('./proofs/receipts/make.ts')).make,
  ),
  entry(
    'receipt verify',
    'verify a signed receipt offline',
    async () => (await import('./proofs/receipts/verify.ts')).verify,
  ),
  entry(
    'receipt print',
    'write a receipt as PDF or JSON',
    async () => (await import('./proofs/receipts/print.ts')).print,
  ),
  entry(
    'receipt list',
    'list receipts and overdue loans',
    async () => (await import('./proofs/receipts/list.ts')).list,
    'receipt ls',
  ),
];

/** The commands about webhooks, in the order of the help. */
export const webhookEntries: readonly Entry[] = [
  entry(
    'webhooks list',
    'list the webhooks of the registry',
    async () => (await import('./webhooks/webhooks.ts')).webhooksList,
    'webhooks ls',
  ),
  entry(
    'webhooks add',
    'post each event to an address',
    async () => (await import('./webhooks/webhooks.ts')).webhooksAdd,
  ),
  entry('webhooks test', 'post a test message', async () => (await import('./webhooks/webhooks.ts')).webhooksTest),
  entry(
    'webhooks disable',
    'stop posting to a webhook',
    async () => (await import('./webhooks/webhooks.ts')).webhooksDisable,
  ),
  entry(
    'webhooks enable',
    'continue where a webhook has stopped',
    async () => (await import('./webhooks/webhooks.ts')).webhooksEnable,
  ),
  entry(
    'webhooks remove',
    'remove a webhook',
    async () => (await import('./webhooks/webhooks.ts')).webhooksRemove,
    'webhooks rm',
  ),
  entry(
    'webhooks deliveries',
    'show the last attempts of a webhook',
    async () => (await import('./webhooks/deliveries.ts')).webhooksDeliveries,
  ),
  entry('webhooks replay', 'post an event again', async () => (await import('./webhooks/webhooks.ts')).webhooksReplay),
];
