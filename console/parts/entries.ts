/** What a person enters in a form. */
import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

/** The entries of a form, with what is in them at first. */
export function useEntries<T extends Readonly<Record<string, unknown>>>(
  first: T,
): { readonly [K in keyof T]: Signal<T[K]> } {
  return useMemo(() => {
    const entries = Object.entries(first).map(([name, value]) => [name, signal(value)]);
    return Object.fromEntries(entries) as { [K in keyof T]: Signal<T[K]> };
  }, []);
}
