/** The run with what it works with: loaded when something has to be decided. */
import { registry } from './registry.ts';
import { BenchRun } from './run.ts';
import { shownOf } from './shown.ts';
import { beep } from './sound.ts';
import { tabStore } from './store.ts';

/** Continues the run that this tab has stored for a person. */
export const startRun = (userId: string): StartedRun => ({
  run: new BenchRun({ registry, store: tabStore(userId), now: Date.now, sound: beep }),
  shownOf,
});

/** A run, and its messages. */
export interface StartedRun {
  readonly run: BenchRun;
  readonly shownOf: typeof shownOf;
}
