/** Long content, drawn in steps: the page answers between them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** How many of `count` parts are drawn: `step` at first, and as many more after each drawing. What is drawn stays. */
export function useSteps(count: number, step = 1): number {
  const drawn = useSignal(step);
  useEffect(() => {
    if (drawn.value < count) drawn.value += step;
  });
  return drawn.value;
}
