/** Parts of the console that are loaded when they are first shown. */
import { signal } from '@preact/signals';
import type { ComponentChildren, ComponentType, FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { endpoints } from '../../src/contract/endpoints.ts';
import { connections } from '../api/stream.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import { EarlyKeys, forgetKeys } from './early-keys.ts';

/** A component that can be loaded before it appears. */
export interface LazyComponent<P extends object = object> extends FunctionComponent<P> {
  /** Loads it, unless it is there or on its way. Resolves with whether it is there. */
  readonly start: () => Promise<boolean>;
}

/** A component that is loaded when it first appears; a failed one is loaded again. `placeholder` is shown until it is there. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  placeholder: () => ComponentChildren = () => null,
): LazyComponent<P> {
  const state = signal<ComponentType<P> | 'loading' | 'failed' | null>(null);
  const start = async (): Promise<boolean> => {
    const present = state.peek();
    if (present !== null && present !== 'failed') return present !== 'loading';
    state.value = 'loading';
    const component = await load().catch(() => 'failed' as const);
    state.value = component;
    return component !== 'failed';
  };
  function Lazy(props: P) {
    useEffect(() => void start(), []);
    const Loaded = state.value;
    if (Loaded === 'failed') return <LoadFailure start={start} />;
    return Loaded === 'loading' || Loaded === null ? placeholder() : <Loaded {...props} />;
  }
  return Object.assign(Lazy, { start });
}

/** A dialog that is loaded when it is first opened. */
export const lazyDialog = <P extends object>(load: () => Promise<ComponentType<P>>): LazyComponent<P> =>
  lazy(load, () => <EarlyKeys />);

/** Reports that a part could not be loaded. It is loaded again when the connection is back, and when the person asks for it. */
function LoadFailure({ start }: { readonly start: () => Promise<boolean> }) {
  const words = text.problem;
  const lastConnection = connections.value;
  useEffect(() => {
    forgetKeys();
    const again = () => void start();
    addEventListener('online', again);
    const stop = connections.subscribe(count => count > lastConnection && again());
    return () => {
      removeEventListener('online', again);
      stop();
    };
  }, []);
  return (
    <div class="problem" role="alert">
      <p>{words.notLoaded}</p>
      <Button words={words.retry} onClick={() => void retry(start)} />
    </div>
  );
}

/** A daemon that answers and does not have the file is of another version: its page is loaded whole. */
async function retry(start: () => Promise<boolean>): Promise<void> {
  if (await start()) return;
  const health = await fetch(endpoints.getHealth.path, { cache: 'no-store' }).catch(() => null);
  if (health?.ok) location.reload();
}
