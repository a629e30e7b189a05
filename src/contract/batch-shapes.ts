/** The common part of operations on many items: each item is checked and carried out apart, and has a result. */
import { type TSchema, Type } from 'typebox';
import { count, EACH, oneOf, shown } from './fields.ts';
import { sizes } from './limits.ts';

/** The items in a body. The operation checks them: only those that are wrong fail. */
export const batchOf = (item: TSchema, maxItems: number = sizes.batchUpdateItems) =>
  Type.Unsafe<readonly unknown[]>({ ...Type.Array(item, { minItems: 1, maxItems }), [EACH]: true });

/** Members of the result of an item. */
export const itemStatus = {
  status: oneOf(['success', 'failed'] as const),
  code: Type.Integer({ description: '200, or the code of a failed item' }),
  message: shown('what happened to the item'),
};

/** Figures of a batch, and its results in the order of the items. `success`: description of that figure. */
export const batchData = <R extends TSchema>(success: string, result: R) =>
  Type.Object({
    total: count('number of items'),
    success: count(success),
    failed: count('number of failed items'),
    results: Type.Array(result),
  });
