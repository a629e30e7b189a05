/** Moments of the registry: how long ago they were, with the local time to the second at the pointer and at the focus. */
import { signal } from '@preact/signals';
import { serverNow } from '../api/request.ts';
import { distance, moment } from '../text/numbers.ts';
import { text } from '../text/words.ts';

/** Changes twice a minute, so that a page that stays open is right. */
const tick = signal(0);
setInterval(() => tick.value++, 30_000);

/** Whether the page is printed: then exact times stand beside the others. */
const isPrinted = signal(false);
matchMedia('print').addEventListener('change', ({ matches }) => (isPrinted.value = matches));

/** A time by its distance from now. Null is never. */
export function Moment({ at }: { readonly at: string | null }) {
  tick.value;
  if (at === null) return <small>{text.common.never}</small>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard reaches the exact time.
    <time dateTime={at} tabIndex={0} {...(isPrinted.value && { 'data-exact': moment(at) })}>
      {text.common.distance(...distance(at, serverNow()))}
    </time>
  );
}
