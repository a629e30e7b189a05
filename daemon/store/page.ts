/** The pages of lists. */
import { paging } from '../../src/contract/limits.ts';
import type { Rows, Window } from './queries.ts';

interface PageQuery {
  readonly page?: number;
  readonly size?: number;
  readonly sortOrder?: 'asc' | 'desc';
}

/** The page of a list that is in memory, the newest first unless the query wants another order. */
export const pageOf = <R extends { readonly at: number }, I>(
  query: PageQuery,
  all: readonly R[],
  show: (row: R) => I,
) => {
  const read = async ({ descending, offset, limit }: Window) => {
    const sorted = all.toSorted((a, b) => (descending ? b.at - a.at : a.at - b.at));
    return { rows: sorted.slice(offset, offset + limit), total: all.length };
  };
  return readPage(query, read, show);
};

/** The page of a list that a query names, as the interface shows its rows. */
export async function readPage<R, I = R>(
  { page = paging.page, size = paging.size, sortOrder }: PageQuery,
  read: (window: Window) => Promise<Rows<R>>,
  show: (row: R) => I = row => row as unknown as I,
) {
  const { rows, total } = await read({ descending: sortOrder !== 'asc', offset: (page - 1) * size, limit: size });
  return { list: rows.map(row => show(row)), pagination: { page, size, total, totalPages: Math.ceil(total / size) } };
}
