/** Searches for persons, as a person types. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Person } from '../../src/contract/people.ts';
import { call } from './request.ts';
import { mayChange } from './session.ts';

/** Milliseconds after the last key before something is searched. */
const PAUSE_MS = 250;

/** Typed text, after a pause: one request for each pause. */
export function usePaused(typed: string): ReadonlySignal<string> {
  const asked = useSignal('');
  useEffect(() => {
    const timer = setTimeout(() => (asked.value = typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return asked;
}

/** Up to `size` persons whose names or ids have a text. None for an empty text, and for a VIEWER, who may not read persons. */
export async function personsNamed(keyword: string, size: number, signal: AbortSignal): Promise<readonly Person[]> {
  if (!keyword || !mayChange.peek()) return [];
  return (await call('listPeople', { query: { keyword, size } }, { signal })).list;
}
