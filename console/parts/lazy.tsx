/** Parts of a page that are loaded when they are first shown. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { loadWithWords, text } from '../text/text.ts';

/** A component that is loaded when it first appears. After a failure, the next appearance loads it again. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const component = signal<ComponentType<P> | null>(null);
  const hasFailed = signal(false);
  return function Lazy(props: P) {
    useEffect(() => {
      if (component.peek()) return;
      hasFailed.value = false;
      loadWithWords(load).then(
        loaded => {
          component.value = loaded;
        },
        () => {
          hasFailed.value = true;
        },
      );
    }, []);
    const Loaded = component.value;
    if (Loaded) return <Loaded {...props} />;
    return hasFailed.value ? <p role="alert">{text.value.problem.crashed}</p> : null;
  };
}
