/** Lists that a page needs as a whole. */
import { paging } from '../../src/contract/limits.ts';
import type { Page } from '../../src/contract/paging.ts';
import type { ServiceToken } from '../../src/contract/tokens.ts';
import { call } from './request.ts';

/** The records of all pages. */
export async function everyPage<R>(
  read: (part: { readonly page: number; readonly size: number }) => Promise<Page<R>>,
): Promise<R[]> {
  const found: R[] = [];
  for (let page = 1; ; page++) {
    const { list, pagination } = await read({ page, size: paging.maxSize });
    found.push(...list);
    if (page >= pagination.totalPages) return found;
  }
}

/** All service tokens, the newest first. */
export const allTokens = (signal: AbortSignal): Promise<ServiceToken[]> =>
  everyPage(query => call('listTokens', { query }, { signal }));
