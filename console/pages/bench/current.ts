/** The run of this tab: it goes on while the person looks at other pages, and after a reload. */

import { tabStore } from './results.ts';
import { BenchRun, type Registry } from './run.ts';
import { beep } from './sound.ts';

/** Loaded with the first key. */
const registry: Registry = {
  check: async (...key) => (await import('./registry.ts')).registry.check(...key),
  bind: async (...key) => (await import('./registry.ts')).registry.bind(...key),
};

let current: { readonly userId: string; readonly run: BenchRun } | null = null;

/** The run of a person who is signed in. That of another person is not continued. */
export function runOf(userId: string): BenchRun {
  if (current?.userId !== userId)
    current = {
      userId,
      run: new BenchRun({ registry, store: tabStore(userId), now: Date.now, sound: beep }),
    };
  return current.run;
}
