/** Whether answers that overlap in time can be explained by an order in which the operations happened one after the other. */

/** One operation as a client saw it. */
export interface Seen<S> {
  /** Places on one clock that only goes forward: sent, and answered. */
  readonly from: number;
  readonly to: number;
  /** The state after it, if the response is the one that the model gives in this state; otherwise undefined. */
  readonly step: (state: S) => S | undefined;
  readonly words: string;
}

/**
 * An order that explains all responses, and in which no operation precedes one that was complete before it was sent; null
 * if there is none. `start` is the state before all of them.
 */
export function explain<S>(seen: readonly Seen<S>[], start: S): { readonly order: Seen<S>[]; readonly end: S } | null {
  const byStart = [...seen].sort((a, b) => a.from - b.from);
  const order: Seen<S>[] = [];
  const tried = new Set<string>();

  function search(left: readonly Seen<S>[], state: S): { order: Seen<S>[]; end: S } | null {
    if (left.length === 0) return { order: [...order], end: state };
    const place = `${left.map(one => byStart.indexOf(one)).join()} ${JSON.stringify(state)}`;
    if (tried.has(place)) return null;
    tried.add(place);
    const firstAnswered = Math.min(...left.map(({ to }) => to));
    for (const next of left) {
      if (next.from > firstAnswered) break;
      const after = next.step(state);
      if (after === undefined) continue;
      order.push(next);
      const found = search(
        left.filter(other => other !== next),
        after,
      );
      if (found) return found;
      order.pop();
    }
    return null;
  }
  return search(byStart, start);
}
