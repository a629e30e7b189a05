/** Paging: the parameters of a list and the shape of its response. */
import { type TSchema, Type } from 'typebox';
import { ALIAS, count, oneOf, whole } from './fields.ts';
import { paging } from './limits.ts';
import { creationSorts, sortOrders } from './values.ts';

const page = whole('counted from 1', { min: 1, max: paging.maxPage, default: paging.page });
const size = whole('records per page', { min: 1, max: paging.maxSize, default: paging.size });

/** Query parameters of a paged operation. `sorts` are the values of `sortBy`, the default first. */
export function pageQuery<const S extends readonly string[] = typeof creationSorts>(sorts?: S) {
  const values = (sorts ?? creationSorts) as S;
  return {
    page: Type.Optional(page),
    size: Type.Optional(size),
    pageSize: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: paging.maxSize,
        description: 'another name of size; size takes precedence',
        [ALIAS]: 'size',
      }),
    ),
    sortBy: Type.Optional(oneOf(values, { description: 'createTime and createdAt mean the same' })),
    sortOrder: Type.Optional(oneOf(sortOrders, { description: 'desc if absent' })),
  };
}

/** Schema of a page of `item`. */
export const paged = <S extends TSchema>(item: S) =>
  Type.Object({
    list: Type.Array(item),
    pagination: Type.Object({
      page: Type.Integer({ minimum: 1 }),
      size: Type.Integer({ minimum: 1 }),
      total: count('number of records on all pages'),
      totalPages: count('0 if there are no records'),
    }),
  });

/** One page of a list. */
export interface Page<T> {
  readonly list: readonly T[];
  readonly pagination: {
    /** Counted from 1. */
    readonly page: number;
    readonly size: number;
    /** Number of records on all pages. */
    readonly total: number;
    /** 0 if there are no records. */
    readonly totalPages: number;
  };
}
