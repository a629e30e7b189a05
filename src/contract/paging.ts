/** Paging: the parameters of a list and the shape of its answer. */
import { type TSchema, Type } from 'typebox';
import { ALIAS, oneOf } from './fields.ts';
import { paging } from './limits.ts';
import { creationSorts, sortOrders } from './values.ts';

const page = Type.Integer({ minimum: 1, maximum: paging.maxPage, default: paging.page, description: 'counted from 1' });
const size = Type.Integer({
  minimum: 1,
  maximum: paging.maxSize,
  default: paging.size,
  description: 'records per page',
});

/** Query parameters of a paged operation; `sorts` are the fields it can be ordered by. */
export function pageQuery<const S extends readonly string[] = typeof creationSorts>(sorts?: S) {
  const values = (sorts ?? creationSorts) as S;
  return {
    page: Type.Optional(page),
    size: Type.Optional(size),
    pageSize: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: paging.maxSize,
        description: 'another name of size, which wins',
        [ALIAS]: 'size',
      }),
    ),
    sortBy: Type.Optional(oneOf(values, { description: 'createTime and createdAt are the same' })),
    sortOrder: Type.Optional(oneOf(sortOrders, { description: 'desc where it is not given' })),
  };
}

export const paged = <S extends TSchema>(item: S) =>
  Type.Object({
    list: Type.Array(item),
    pagination: Type.Object({
      page: Type.Integer({ minimum: 1 }),
      size: Type.Integer({ minimum: 1 }),
      total: Type.Integer({ minimum: 0, description: 'number of records on all pages' }),
      totalPages: Type.Integer({ minimum: 0, description: '0 where there is no record' }),
    }),
  });

export interface Page<T> {
  readonly list: readonly T[];
  readonly pagination: {
    readonly page: number;
    readonly size: number;
    readonly total: number;
    readonly totalPages: number;
  };
}

export function toPage<T>(list: readonly T[], total: number, page: number, size: number): Page<T> {
  return { list, pagination: { page, size, total, totalPages: Math.ceil(total / size) } };
}
