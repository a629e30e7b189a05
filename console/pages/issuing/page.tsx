/** The providers at which keys are issued, and what an administrator does with them. */
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { useRepeat } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { lazy } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { grouped } from '../../text/numbers.ts';
import { providers as words } from '../../text/words.ts';

const AddProvider = lazy(async () => (await import('./dialogs.tsx')).AddProvider);
const ReplaceSecret = lazy(async () => (await import('./dialogs.tsx')).ReplaceSecret);
const Reconcile = lazy(async () => (await import('./dialogs.tsx')).Reconcile);

type ProviderColumn = 'name' | 'type' | 'at' | 'state' | 'credentials' | 'pending';

async function test({ providerId, name }: ProviderItem): Promise<string> {
  const { reachable, problem } = await call('testProvider', { params: { providerId } });
  return reachable ? words.accepts(name) : words.fails(name, problem ?? '');
}

const kind: RecordKind<ProviderItem, ProviderColumn, 'test' | 'reconcile' | 'secret' | 'remove'> = {
  keyOf: ({ providerId }) => providerId,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    type: ({ type }) => words.type[type],
    at: ({ address, tenant }) => <span class="code">{tenant ?? address}</span>,
    state: ({ problem }) => (
      <>
        <span class={`badge ${problem === null ? 'good' : 'bad'}`}>{words.state(problem !== null)}</span>{' '}
        <small>{problem}</small>
      </>
    ),
    credentials: ({ credentials }) => grouped(credentials),
    pending: ({ pending }) => (pending > 0 ? <span class="badge warn">{grouped(pending)}</span> : pending),
  },
  rowHead: 'name',
  classes: { at: 'minor', state: 'whole', credentials: 'number', pending: 'number' },
  actions: {
    test: { carryOut: test },
    reconcile: { Dialog: Reconcile },
    secret: { isFor: ({ type }) => type !== 'devmgr', Dialog: ReplaceSecret },
    remove: {
      carryOut: ({ providerId }, key) => call('removeProvider', { params: { providerId } }, { key }),
      isDangerous: true,
    },
  },
};

/** All providers in order of creation. Removals that wait are followed to their end. */
export function ProvidersPage() {
  const list = useResource(async signal => onePage((await call('listProviders', {}, { signal })).list));
  useRepeat(list, ({ list: all }) => all.some(({ pending }) => pending > 0));
  return <ListPage path="providers" kind={kind} words={words} list={list} Create={AddProvider} />;
}
