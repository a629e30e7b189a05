/** The persons whom devices belong to. */
import { type PersonSource, personSources } from '../../../src/contract/person-values.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { Choice } from '../../parts/inputs.tsx';
import { lazy, lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { pageIn } from '../../parts/pager.tsx';
import { Search } from '../../parts/search.tsx';
import { orderTexts } from '../../parts/sort.tsx';
import { go, linkTo, place } from '../../router.ts';
import { labels } from '../../text/text.ts';
import { text, people as words } from '../../text/words.ts';
import { OpenCases } from './cases.tsx';
import { Held } from './held.tsx';
import { people, shownColumns } from './kind.tsx';
import { isOfPersons } from './states.ts';

const AddPerson = lazyDialog(async () => (await import('./dialogs.tsx')).AddPerson);
const Story = lazy(async () => (await import('./person.tsx')).PersonStory);

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
      kind={{ ...people, columns: shownColumns(), Story }}
      words={words}
      {...(!Object.values(searchIn(place.value.query)).some(Boolean) && { empty: words.first })}
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
