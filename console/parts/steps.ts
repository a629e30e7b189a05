/** Long content, drawn in steps: the page answers between them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** How many of `count` parts are drawn. `stepAfter` maps the number of those drawn to the number that follows them. What is drawn stays. */
export function useSteps(count: number, stepAfter: (drawn: number) => number = () => 1): number {
  const drawn = useSignal(stepAfter(0));
  useEffect(() => {
    if (drawn.value < count) drawn.value += stepAfter(drawn.value);
  });
  return drawn.value;
}
