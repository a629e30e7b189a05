/** The search of a list. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { Search as SearchIcon } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Milliseconds after the last key before the list follows. */
const DEBOUNCE_MS = 250;

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  /** Search text in the address. It reads a signal. */
  readonly applied: () => string;
  /** Searches for another text. `replace`: the address already holds a part of it. */
  readonly onApply: (keyword: string, replace: boolean) => void;
  /** Shown after the field; gets what is typed. */
  readonly children?: (typed: string) => ComponentChildren;
}

/** Typed text, and the search for it. Back leads to the list before the search, not through its letters. */
function useSearch({ applied, onApply }: SearchProps) {
  const typed = useSignal(applied());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** Whether the address already holds a part of this search. */
  const begun = useRef(false);
  const apply = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    const keyword = typed.peek().trim();
    if (keyword === applied()) return;
    onApply(keyword, begun.current);
    begun.current = true;
  };
  useSignalEffect(() => {
    const keyword = applied();
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

/** Searches as one types; Enter searches at once. */
export function Search(props: SearchProps) {
  const { label, placeholder, children } = props;
  const { typed, type, apply, end } = useSearch(props);
  return (
    <form
      class="search"
      onSubmit={event => {
        event.preventDefault();
        apply();
      }}
    >
      <Icon of={SearchIcon} />
      <input
        type="search"
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={typed.value}
        onBlur={end}
        onInput={event => type(event.currentTarget.value)}
      />
      {typed.value.trim() && children?.(typed.value.trim())}
    </form>
  );
}
