/** The record that is shown at the side of its list, and how it follows the rows. */
import { computed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

const presentRow = () => document.querySelector('main table[data-peek] tr[aria-current]');

/** The key of the record, null if none is shown. `keys`: those of the rows, in their order. */
export function usePeek(keys: () => readonly string[]) {
  const peeked = useSignal<string | null>(null);
  /** The sheet keeps its record while it goes. */
  const shown = useMemo(() => {
    let last = '';
    return computed(() => {
      last = peeked.value ?? last;
      return last;
    });
  }, []);
  /** Its row; one that has gone, with its filter, had this place. */
  const last = useRef(0);
  useEffect(() => presentRow()?.scrollIntoView({ block: 'nearest' }), [peeked.value]);
  const show = (at: number) => {
    const key = keys()[at];
    if (key === undefined) return;
    last.current = at;
    peeked.value = key;
  };
  const onStep = (by: 1 | -1) => {
    const at = keys().indexOf(shown.peek());
    show(at >= 0 ? at + by : last.current - (by < 0 ? 1 : 0));
  };
  const onClose = () => {
    // The focus returns before what has it goes.
    presentRow()?.querySelector<HTMLElement>('th a, .row-actions button')?.focus();
    peeked.value = null;
  };
  return { peeked, shown, show, onStep, onClose };
}
