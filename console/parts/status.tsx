/** State of the whole page: the state of the stream, and requests that wait for their limit. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { waitsUntil } from '../api/request.ts';
import { streamState } from '../api/stream.ts';
import { text } from '../text/words.ts';

/** The state of the stream in words. A loss is announced. */
export function StreamStatus() {
  const state = streamState.value;
  return (
    <p class={`stream ${state}`} role="status">
      {text.stream[state]}
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
    const timer = setInterval(() => (now.value = Date.now()), 1000);
    return () => clearInterval(timer);
  }, [until, now]);
  /** The seconds at the beginning: a screen reader speaks once, not each second. */
  const first = useMemo(() => secondsUntil(until), [until]);
  if (!until) return null;
  return (
    <div class="notice">
      <p class="hidden" role="status">
        {text.problem.limited(first)}
      </p>
      <p aria-hidden="true">{text.problem.limited(secondsUntil(until, now.value))}</p>
    </div>
  );
}

const secondsUntil = (until: number, now = Date.now()): number => Math.max(1, Math.ceil((until - now) / 1000));
