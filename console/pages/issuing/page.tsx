/** The providers of sign-in, people and keys, and what an administrator does with them. */
import { FlaskConical } from 'lucide';
import type { ComponentType } from 'preact';
import type { AdministrationEventType } from '../../../src/contract/administration-events.ts';
import { organizationOf } from '../../../src/contract/provider-fields.ts';
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { isOwnType } from '../../../src/contract/values.ts';
import type { PartName } from '../../../src/fleet/provider-parts.ts';
import { useRepeat } from '../../api/live.ts';
import { useResource } from '../../api/resource.ts';
import { changesOf, type EventSelection } from '../../parts/changes.ts';
import type { TimedFact } from '../../parts/events.tsx';
import { Address, RecordLink } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage, RecordPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordDialogProps, RecordKind } from '../../parts/records.tsx';
import { grouped } from '../../text/numbers.ts';
import { providers as words } from '../../text/words.ts';
import { type ProviderRow, problemOf, providerRows, stateOf, testedOf } from './rows.ts';

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
  ({ parts }: ProviderRow) => {
    const given = parts.filter(part => part.gives === gives);
    return given.length > 0 && given.map(part => <State key={part} of={stateOf(part)} />);
  };

const State = ({ of }: { readonly of: keyof typeof colors }) => (
  <span class={`badge ${colors[of]}`}>{words.state[of]}</span>
);

/** The settings of which there is one: their events name no provider. */
const ofSettings: Readonly<Partial<Record<string, readonly AdministrationEventType[]>>> = {
  oidc: ['SSO_SET', 'SSO_SESSIONS_ENDED'],
  ldap: ['DIRECTORY_SET'],
};

/** Its changes, and those of the tokens by which it sends persons. */
function historyOf(name: string, { parts = [] }: Partial<ProviderRow> = {}): EventSelection {
  const providerId = [name, ...parts.map(({ item }) => item?.providerId)];
  const tokenId = parts.map(({ token }) => token?.tokenId);
  const settings = parts.flatMap(({ type }) => ofSettings[type] ?? []);
  return changesOf({ providerId, tokenId }, settings);
}

const testsOf = ({ parts }: ProviderRow): readonly TimedFact[] =>
  parts.flatMap(part => {
    const { at, problem } = testedOf(part) ?? {};
    const detail = (
      <>
        <State of={problem ? 'fails' : 'works'} /> {problem}
      </>
    );
    return at ? [{ at, icon: FlaskConical, words: words.checked(words.column[part.gives]), detail }] : [];
  });

const providers: RecordKind<ProviderRow, ProviderColumn, 'test' | 'oidc' | 'ldap' | 'reconcile' | 'secret' | 'remove'> =
  {
    keyOf: ({ name }) => name,
    nameOf: ({ name }) => name,
    columns: {
      name: ({ name }) => <RecordLink page="providers" id={name} />,
      type: ({ type }) => words.type[type],
      at: ({ item, address }) => <Address value={organizationOf(item ?? {}) ?? address ?? ''} />,
      'sign-in': cellOf('sign-in'),
      people: cellOf('people'),
      keys: cellOf('keys'),
      problem: ({ parts }) => {
        const problems = parts.flatMap(part => problemOf(part) ?? []);
        return problems.length > 0 && <small>{problems.join(' ')}</small>;
      },
      credentials: ({ item }) => item && grouped(item.credentials),
      pending: ({ item }) =>
        item && (item.pending > 0 ? <span class="badge warn">{grouped(item.pending)}</span> : item.pending),
    },
    rowHead: 'name',
    classes: {
      type: 'minor',
      at: 'minor keep',
      problem: 'whole',
      credentials: 'number minor',
      pending: 'number minor',
    },
    aliases: ({ parts }) => parts.flatMap(({ item, token }) => [item?.providerId, token?.tokenId]),
    history: historyOf,
    useFacts: testsOf,
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
function useProviders() {
  const list = useResource(async signal => onePage(await providerRows(signal)));
  useRepeat(list, ({ list: all }) => all.some(({ item }) => item !== null && item.pending > 0));
  return list;
}

/** The list of providers. */
export const ProvidersPage = () => (
  <ListPage path="providers" kind={providers} words={words} list={useProviders()} Create={AddProvider} />
);
/** The provider that the address names: it has its name or its id. */
export const ProviderPage = () => <RecordPage path="providers" kind={providers} words={words} all={useProviders()} />;
