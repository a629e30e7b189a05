/** The providers of sign-in, people and keys, and what an administrator does with them. */

import type { ComponentType } from 'preact';
import { organizationOf } from '../../../src/contract/provider-fields.ts';
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { isOwnType } from '../../../src/contract/values.ts';
import type { PartName } from '../../../src/fleet/provider-parts.ts';
import { useRepeat } from '../../api/live.ts';
import { useResource } from '../../api/resource.ts';
import { Address } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordDialogProps, RecordKind } from '../../parts/records.tsx';
import { grouped } from '../../text/numbers.ts';
import { providers as words } from '../../text/words.ts';
import { type ProviderRow, problemOf, providerRows, stateOf } from './rows.ts';

const AddProvider = lazyDialog(async () => (await import('./dialogs.tsx')).AddProvider);
const ChangeProvider = lazyDialog(async () => (await import('./dialogs.tsx')).ChangeProvider);
const TestProvider = lazyDialog(async () => (await import('./parts.tsx')).TestProvider);
const RemoveProvider = lazyDialog(async () => (await import('./parts.tsx')).RemoveProvider);
const ReplaceSecret = lazyDialog(async () => (await import('./dialogs.tsx')).ReplaceSecret);
const Reconcile = lazyDialog(async () => (await import('./dialogs.tsx')).Reconcile);

type ProviderColumn = 'name' | 'type' | 'at' | 'sign-in' | 'people' | 'keys' | 'problem' | 'credentials' | 'pending';

/** A dialog about the provider at which keys are issued. */
const ofItem =
  (Dialog: ComponentType<RecordDialogProps<ProviderItem>>) =>
  ({ record: { item }, ...props }: RecordDialogProps<ProviderRow>) =>
    item && <Dialog record={item} {...props} />;

const has = (type: ProviderRow['type']) => (row: ProviderRow) => row.parts.some(part => part.type === type);
const ofType = (type: 'oidc' | 'ldap') => ({
  isFor: has(type),
  Dialog: (props: RecordDialogProps<ProviderRow>) => <ChangeProvider type={type} {...props} />,
});

const colors = { works: 'good', fails: 'bad', untested: '' } as const;

/** Whether the part of a row works, as far as it is known. */
const cellOf =
  (gives: PartName) =>
  ({ parts }: ProviderRow) =>
    parts.map(part =>
      part.gives === gives ? <span class={`badge ${colors[stateOf(part)]}`}>{words.state[stateOf(part)]}</span> : null,
    );

const kind: RecordKind<ProviderRow, ProviderColumn, 'test' | 'oidc' | 'ldap' | 'reconcile' | 'secret' | 'remove'> = {
  keyOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    type: ({ type }) => words.type[type],
    at: ({ item, address }) => <Address value={organizationOf(item ?? {}) ?? address ?? ''} />,
    'sign-in': cellOf('sign-in'),
    people: cellOf('people'),
    keys: cellOf('keys'),
    problem: ({ parts }) => <small>{parts.flatMap(part => problemOf(part) ?? []).join(' ')}</small>,
    credentials: ({ item }) => item && grouped(item.credentials),
    pending: ({ item }) =>
      item && (item.pending > 0 ? <span class="badge warn">{grouped(item.pending)}</span> : item.pending),
  },
  rowHead: 'name',
  classes: { type: 'minor', at: 'minor keep', problem: 'whole', credentials: 'number minor', pending: 'number minor' },
  actions: {
    test: { Dialog: TestProvider },
    oidc: ofType('oidc'),
    ldap: ofType('ldap'),
    reconcile: { isFor: ({ item }) => item !== null, Dialog: ofItem(Reconcile) },
    secret: { isFor: ({ item }) => item !== null && !isOwnType(item.type), Dialog: ofItem(ReplaceSecret) },
    remove: { Dialog: RemoveProvider, isDangerous: true },
  },
};

/** All providers: those that issue keys in order of creation, then the others. Removals that wait are followed to their end. */
export function ProvidersPage() {
  const list = useResource(async signal => onePage(await providerRows(signal)));
  useRepeat(list, ({ list: all }) => all.some(({ item }) => item !== null && item.pending > 0));
  return <ListPage path="providers" kind={kind} words={words} list={list} Create={AddProvider} />;
}
