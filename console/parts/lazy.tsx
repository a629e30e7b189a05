/** Parts of the console that are loaded when they are first shown. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { endpoints } from '../../src/contract/endpoints.ts';
import { connections } from '../api/stream.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';

/** A component that is loaded on demand. */
export class LoadedComponent<P extends object = object> {
  readonly #load: () => Promise<ComponentType<P>>;
  readonly #state = signal<ComponentType<P> | 'loading' | 'failed' | null>(null);
  /** Null before it is started. */
  readonly state: ReadonlySignal<ComponentType<P> | 'loading' | 'failed' | null> = this.#state;

  constructor(load: () => Promise<ComponentType<P>>) {
    this.#load = load;
  }

  /** Loads it, unless it is there or on its way. Resolves with whether it is there. */
  readonly start = async (): Promise<boolean> => {
    const state = this.#state.peek();
    if (state !== null && state !== 'failed') return state !== 'loading';
    this.#state.value = 'loading';
    try {
      const component = await this.#load();
      this.#state.value = component;
      return true;
    } catch {
      this.#state.value = 'failed';
      return false;
    }
  };
}

/** A component that is loaded when it first appears. After a failure, the next appearance loads it again. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): FunctionComponent<P> {
  const component = new LoadedComponent<P>(load);
  return function Lazy(props: P) {
    useEffect(() => void component.start(), []);
    const state = component.state.value;
    if (state === 'failed') return <LoadFailure start={component.start} />;
    if (state === 'loading' || state === null) return null;
    const Loaded = state;
    return <Loaded {...props} />;
  };
}

/** Reports that a part could not be loaded. It is loaded again when the connection is back, and when the person asks for it. */
export function LoadFailure({ start }: { readonly start: () => Promise<boolean> }) {
  const words = text.problem;
  const lastConnection = connections.value;
  useEffect(() => {
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
