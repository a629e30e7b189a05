/** What holds for the whole page: the state of the stream, and requests that wait for their limit. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { waitsUntil } from '../api/request.ts';
import { streamState } from '../api/stream.ts';
import { text } from '../text/text.ts';

/** The state of the stream in words. A loss is announced. */
export function StreamStatus() {
  const state = streamState.value;
  return (
    <p class={`stream ${state}`} role="status">
      {text.value.stream[state]}
    </p>
  );
}

/** Shows that a request waits for the rate limit, and for how long. */
export function Waiting() {
  const now = useSignal(Date.now());
  const until = waitsUntil.value;
  useEffect(() => {
    if (!until) return;
    now.value = Date.now();
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }, [until, now]);
  if (!until) return null;
  return (
    <p class="notice" role="status">
      {text.value.problem.limited(Math.max(1, Math.ceil((until - now.value) / 1000)))}
    </p>
  );
}
