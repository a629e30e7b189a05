/** The persons whom devices belong to. */
import type { Person } from '../../../src/contract/people.ts';
import { type PersonSource, personSources } from '../../../src/contract/person-values.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { Choice } from '../../parts/inputs.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { pageIn } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Search } from '../../parts/search.tsx';
import { orderTexts } from '../../parts/sort.tsx';
import { Moment } from '../../parts/time.tsx';
import { go, linkTo, place } from '../../router.ts';
import { grouped } from '../../text/numbers.ts';
import { labels } from '../../text/text.ts';
import { text, people as words } from '../../text/words.ts';
import { OpenCases } from './cases.tsx';
import { Held } from './held.tsx';
import { devicesOf, isOfPersons } from './states.ts';

const AddPerson = lazyDialog(async () => (await import('./dialogs.tsx')).AddPerson);
const Leave = lazyDialog(async () => (await import('./dialogs.tsx')).Leave);
const Erase = lazyDialog(async () => (await import('./erase.tsx')).Erase);

const columns = {
  userName: ({ personId, userName }: Person) => <a href={linkTo(`people/${personId}`)}>{userName}</a>,
  name: ({ name }: Person) => name,
  email: ({ email }: Person) => email,
  groups: ({ groups }: Person) => groups.join(', '),
  source: ({ source }: Person) => words.sources[source],
  devices: (person: Person) => <a href={devicesOf(person)}>{grouped(person.devices)}</a>,
  left: ({ leftAt }: Person) => leftAt && <Moment at={leftAt} />,
};
type PersonColumn = keyof typeof columns;

/** Columns that the person may see: the registry has no e-mail address for a DEALER. */
const shownColumns = () =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => isAdmin.value || name !== 'email')) as typeof columns;

/** Actions on persons. */
export const people: RecordKind<Person, PersonColumn, 'leave' | 'back' | 'erase'> = {
  keyOf: ({ personId }) => personId,
  nameOf: ({ userName }) => userName,
  columns,
  rowHead: 'userName',
  classes: { devices: 'number', groups: 'minor', source: 'minor' },
  sorts: {
    userName: ({ userName }) => userName,
    name: ({ name }) => name,
    email: ({ email }) => email,
    groups: ({ groups }) => groups.join(', ') || null,
    source: ({ source }) => words.sources[source],
    devices: ({ devices }) => devices,
    left: ({ leftAt }) => leftAt && Date.parse(leftAt),
  },
  actions: {
    leave: { Dialog: Leave, isDangerous: true, isFor: ({ active }) => isAdmin.value && active },
    back: {
      async carryOut({ personId }, key) {
        await call('personReturns', { params: { personId } }, { key });
        // The page of the person lists what could be unlocked: nothing is unlocked automatically.
        go(linkTo(`people/${personId}`));
      },
      isFor: ({ active }) => isAdmin.value && !active,
    },
    erase: { Dialog: Erase, isDangerous: true, isFor: ({ active }) => isAdmin.value && !active },
  },
};

/** Selection in the address, as text. */
const searchIn = (query: URLSearchParams) => ({
  keyword: query.get('keyword') ?? '',
  source: personSources.find(source => source === query.get('source')) ?? ('' as const),
  active: (['true', 'false'] as const).find(active => active === query.get('active')) ?? ('' as const),
});

/** The list of persons, the newest first; above it the leavers who wait for a release. */
export function PeoplePage() {
  const list = useResource(signal => {
    const { active, source, keyword } = searchIn(place.value.query);
    const query = {
      ...pageIn(place.value.query),
      ...(keyword && { keyword }),
      ...(source && { source }),
      ...(active && { active: active === 'true' }),
    };
    return call('listPeople', { query }, { signal });
  });
  useRefresh(list.reload, isOfPersons);
  return (
    <ListPage
      path="people"
      query={searchIn(place.value.query)}
      kind={{ ...people, columns: shownColumns() }}
      words={words}
      list={list}
      Create={isAdmin.value ? AddPerson : undefined}
    >
      <Held />
      {isAdmin.value && <OpenCases />}
      <Filters />
    </ListPage>
  );
}

function Filters() {
  const search = searchIn(place.value.query);
  const change = (part: Partial<typeof search>, replace = true) =>
    go(linkTo('people', { ...searchIn(place.peek().query), ...orderTexts(place.peek().query), ...part }), replace);
  return (
    <div class="tools">
      <Search
        label={words.filter.keyword}
        placeholder={words.filter.keyword}
        applied={() => searchIn(place.value.query).keyword}
        onApply={(keyword, replace) => change({ keyword }, replace)}
      />
      <Choice<PersonSource | ''>
        isInline
        label={words.column.source}
        value={search.source}
        values={['', ...personSources]}
        words={labels({ '': words.filter.anySource, ...words.sources })}
        onChange={source => change({ source })}
      />
      <Choice
        isInline
        label={text.column.state}
        value={search.active}
        values={['', 'true', 'false']}
        words={labels({ '': words.filter.anyState, true: words.state.active, false: words.state.left })}
        onChange={active => change({ active })}
      />
    </div>
  );
}
