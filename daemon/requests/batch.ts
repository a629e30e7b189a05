/** The figures of a batch with its results, which are in the order of the items. */
export function batchResults<R extends { readonly status: 'success' | 'failed' }>(results: R[]) {
  const success = results.filter(({ status }) => status === 'success').length;
  return { total: results.length, success, failed: results.length - success, results };
}
