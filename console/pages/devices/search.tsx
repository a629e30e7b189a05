/** The search of the list. */
import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { Search as SearchIcon } from 'lucide';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { go } from '../../router.ts';
import { devices as listWords, text } from '../../text/words.ts';
import { addressWith } from './query.ts';

/** Milliseconds after the last key before the list follows. */
const DEBOUNCE_MS = 250;

/** What is typed, and the search for it. Back leads to the list before the search, not through its letters. */
function useSearch(query: ReadonlySignal<URLSearchParams>) {
  const typed = useSignal(query.peek().get('keyword') ?? '');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** Whether the address already holds a part of this search. */
  const begun = useRef(false);
  const apply = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    const keyword = typed.peek().trim();
    if (keyword === (query.peek().get('keyword') ?? '')) return;
    go(addressWith(query.peek(), { keyword }), begun.current);
    begun.current = true;
  };
  useSignalEffect(() => {
    const keyword = query.value.get('keyword') ?? '';
    if (timer.current !== undefined || typed.peek().trim() === keyword) return;
    typed.value = keyword;
    begun.current = false;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string) => {
    typed.value = text;
    clearTimeout(timer.current);
    timer.current = setTimeout(apply, DEBOUNCE_MS);
  };
  const end = () => {
    begun.current = false;
  };
  return { typed, type, apply, end };
}

/** Searches ids and serial numbers as one types, and offers the devices of a user. */
export function Search({ query }: { readonly query: ReadonlySignal<URLSearchParams> }) {
  const id = useId();
  const { typed, type, apply, end } = useSearch(query);
  return (
    <form
      class="search"
      onSubmit={event => {
        event.preventDefault();
        apply();
      }}
    >
      <Icon of={SearchIcon} />
      <label for={id} class="hidden">
        {listWords.filter.keyword}
      </label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        placeholder={listWords.searchHint}
        value={typed.value}
        onBlur={end}
        onInput={event => type(event.currentTarget.value)}
      />
      {typed.value.trim() && (
        <Button
          words={`${text.column.user}: ${typed.value.trim()}`}
          class="plain"
          onClick={() => go(addressWith(query.peek(), { keyword: '', userId: typed.peek().trim() }))}
        />
      )}
    </form>
  );
}
