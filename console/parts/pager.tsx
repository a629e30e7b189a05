/** The pages of a list. Their number is in the address. */
import { useEffect } from 'preact/hooks';
import type { Page } from '../../src/contract/paging.ts';
import { go } from '../router.ts';
import { text } from '../text/words.ts';

/** The part of a list that an address names, for a request. Its number is counted from 1. */
export const pageIn = (query: URLSearchParams): { readonly page: number; readonly size: number } => ({
  page: Math.max(1, Math.trunc(Number(query.get('page'))) || 1),
  size: 50,
});

/** A list that has one page. */
export const onePage = <R,>(list: readonly R[]): Page<R> => ({
  list: [...list],
  pagination: { page: 1, size: list.length, total: list.length, totalPages: 1 },
});

interface PagerProps {
  readonly page: number;
  /** Number of pages; 0 if the list is empty. */
  readonly totalPages: number;
  readonly to: (page: number) => string;
}

/** Links to the previous and the next page; null if there is only one. */
export function Pager({ page, totalPages, to }: PagerProps) {
  const words = text.common;
  const last = Math.max(1, totalPages);
  // A page after the last one has no rows: records were removed, or the address is old.
  useEffect(() => {
    if (page > last) go(to(last), true);
  }, [page, last]);
  if (totalPages < 2 && page === 1) return null;
  return (
    <nav class="pager" aria-label={words.page(page, last)}>
      {page > 1 ? <a href={to(Math.min(page - 1, last))}>← {words.previous}</a> : <span />}
      <span>{words.page(page, last)}</span>
      {page < totalPages ? <a href={to(page + 1)}>{words.next} →</a> : <span />}
    </nav>
  );
}
