/** The filters of the list, and those that apply. */
import type { ReadonlySignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Details } from '../../parts/details.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { go } from '../../router.ts';
import { moment, twoDigits } from '../../text/numbers.ts';
import { labels } from '../../text/text.ts';
import { devices as listWords, text } from '../../text/words.ts';
import { addressWith, type ChoiceName, choices, chosenIn, type FilterName, filtersIn, texts, times } from './query.ts';

type FiltersProps = Readonly<{ query: ReadonlySignal<URLSearchParams> }>;

/** Every filter but the search. A changed filter loads the list at once. */
export const Filters = ({ query }: FiltersProps) => (
  <Details summary={text.common.filters}>{() => <Fields query={query} />}</Details>
);

/** The number of devices by the text of a filter. */
type Offered = Readonly<Partial<Record<ValueName, ReadonlyMap<string, number>>>>;

/** The most frequent manufacturers and models. */
function offeredIn({ byManufacturer, byModel }: Data<'getStatistics'>): Offered {
  const models = Map.groupBy(byModel, ({ model }) => model);
  return {
    manufacturer: new Map(byManufacturer.map(({ manufacturer, count }) => [manufacturer, count])),
    model: new Map([...models].map(([model, some]) => [model, some.reduce((sum, { count }) => sum + count, 0)])),
  };
}

function Fields({ query }: FiltersProps) {
  const { data } = useResource(signal => call('getStatistics', {}, { signal }));
  const offered = data.value ? offeredIn(data.value) : {};
  return (
    <div class="columns">
      {(Object.keys(choices) as ChoiceName[]).map(name => (
        <CheckBoxes<string>
          key={name}
          label={listWords.filter[name]}
          values={choices[name]}
          value={chosenIn(query.value, name)}
          words={labels(wordsOf(name))}
          onChange={chosen => go(addressWith(query.peek(), { [name]: chosen.join(',') }))}
        />
      ))}
      {[...texts, ...times].map(name => (
        <Value key={name} name={name} query={query} offered={offered[name]} />
      ))}
    </div>
  );
}

type ValueName = (typeof texts)[number] | (typeof times)[number];
const isTime = (name: string): boolean => (times as readonly string[]).includes(name);

type ValueProps = FiltersProps & Readonly<{ name: ValueName; offered: ReadonlyMap<string, number> | undefined }>;

/** A text applies at Enter or when the field is left; a date when it is whole. A tag is added to those that apply. */
function Value({ name, query, offered }: ValueProps) {
  const id = useId();
  const given = query.value.get(name) ?? '';
  const apply = (value: string) => {
    if (name !== 'tag') return go(addressWith(query.peek(), { [name]: value }));
    if (value) go(addressWith(query.peek(), { tag: [...new Set([...query.peek().getAll('tag'), value])] }));
  };
  return (
    <>
      <label class="field">
        {listWords.filter[name]}
        <input
          {...(isTime(name) ? { type: 'date' } : { type: 'text' })}
          value={name === 'tag' ? '' : isTime(name) ? dateOf(given) : given}
          {...(name === 'tag' && { placeholder: 'lot:7' })}
          {...(offered && { list: id })}
          autocomplete="off"
          spellcheck={false}
          onChange={event => {
            const value = event.currentTarget.value.trim();
            if (name === 'tag') event.currentTarget.value = '';
            apply(value);
          }}
        />
      </label>
      {offered && (
        <datalist id={id}>
          {[...offered].map(([value, count]) => (
            <option key={value} value={value}>
              {text.common.devices(count)}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

/** The filters that apply, each with a button that removes it. */
export function Applied({ query }: FiltersProps) {
  const filters = filtersIn(query.value).filter(({ name }) => name !== 'search');
  if (!filters.length) return null;
  const remove = (name: FilterName, value: string) =>
    go(
      addressWith(query.peek(), {
        [name]: query
          .peek()
          .getAll(name)
          .filter(each => each !== value),
      }),
    );
  return (
    <ul class="chips" aria-label={listWords.applied}>
      {filters.map(({ name, value }) => (
        <li key={`${name} ${value}`}>
          {listWords.filter[name]}: {shown(name, value)}
          <Button
            words="×"
            aria-label={listWords.removeFilter(listWords.filter[name])}
            onClick={() => remove(name, value)}
          />
        </li>
      ))}
      {filters.length > 1 && (
        <li>
          <Button
            words={listWords.removeFilters}
            onClick={() => go(addressWith(query.peek(), Object.fromEntries(filters.map(({ name }) => [name, '']))))}
          />
        </li>
      )}
    </ul>
  );
}

/** The local date of a filter by time, as an input of a date takes it. */
function dateOf(value: string): string {
  const date = new Date(value);
  if (/^\d{4}-\d\d-\d\d$/.test(value) || Number.isNaN(date.getTime())) return value;
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

function shown(name: FilterName, value: string): string {
  if (Object.hasOwn(choices, name))
    return value
      .split(',')
      .map(each => wordOf(name as ChoiceName, each))
      .join(', ');
  if (!isTime(name) || Number.isNaN(Date.parse(value))) return value;
  return value.length > 10 ? moment(value) : text.common.day(`${value}T00:00`);
}

const wordsOf = (name: ChoiceName): Readonly<Record<string, string>> =>
  ({ status: text.status, deviceType: text.type, proof: text.grade })[name];

/** A value of a filter in words. An address may hold values that do not exist. */
function wordOf(name: ChoiceName, value: string): string {
  const words = wordsOf(name);
  return Object.hasOwn(words, value) ? (words[value] ?? value) : value;
}
