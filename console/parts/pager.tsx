/** Links between the pages of a list. */
import { text } from '../text/text.ts';

interface PagerProps {
  readonly page: number;
  /** Number of pages; 0 if the list is empty. */
  readonly pages: number;
  /** The address of a page of the list. */
  readonly to: (page: number) => string;
}

/** Links to the previous and the next page; null if there is only one. */
export function Pager({ page, pages, to }: PagerProps) {
  const words = text.value.common;
  if (pages < 2 && page === 1) return null;
  const last = Math.max(1, pages);
  return (
    <nav class="pager" aria-label={words.page(page, last)}>
      {page > 1 ? <a href={to(Math.min(page - 1, last))}>← {words.previous}</a> : <span />}
      <span>{words.page(page, last)}</span>
      {page < pages ? <a href={to(page + 1)}>{words.next} →</a> : <span />}
    </nav>
  );
}
