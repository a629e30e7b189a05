/** The run with its dependencies: loaded when something has to be decided. */
import { call } from '../../api/request.ts';
import { preferences } from '../../preferences.ts';
import { text } from '../../text/words.ts';
import { registry } from './registry.ts';
import type { IssueKey } from './results.ts';
import { BenchRun } from './run.ts';
import { shownOf } from './shown.ts';
import { tabStore } from './store.ts';

/** Continues the run that this tab has stored for a person. */
export const startRun = (userId: string): StartedRun => ({
  run: new BenchRun({
    registry,
    issueKey: issueLater,
    store: tabStore(userId),
    now: Date.now,
    isAttached,
    sound: beep,
  }),
  shownOf,
});

/** Most runs issue no keys. */
const issueLater: IssueKey = async (...all) => {
  const issuing = await import('./issuing.ts').catch(() => null);
  return issuing === null ? { providers: {}, reason: text.problem.crashed } : issuing.issueKey(...all);
};

/** A service that does not answer knows of no key. */
const isAttached = (wanted: string): Promise<boolean> =>
  call('listKeys', {}).then(
    ({ list }) => list.some(({ keyId }) => keyId === wanted),
    () => false,
  );

/** A run, and its messages. */
export type StartedRun = Readonly<{ run: BenchRun; shownOf: typeof shownOf }>;

const tones = {
  good: { hertz: 880, starts: [0], seconds: 0.12 },
  bad: { hertz: 220, starts: [0, 0.25], seconds: 0.18 },
} as const;
/** So loud that it is heard beside a machine, and does not hurt in headphones. */
const volume = 0.2;

let context: AudioContext | null = null;

/**
 * What the operator hears: one high tone for a key that has passed or is bound, two low ones otherwise; nothing if the person has switched it
 * off. A browser stays silent until its page was clicked or typed in once.
 */
function beep(kind: keyof typeof tones): void {
  if (preferences.peek().isSilent) return;
  context ??= new AudioContext();
  void context.resume();
  const { hertz, starts, seconds } = tones[kind];
  for (const start of starts) {
    const oscillator = new OscillatorNode(context, { frequency: hertz });
    const from = context.currentTime + start;
    oscillator.connect(new GainNode(context, { gain: volume })).connect(context.destination);
    oscillator.start(from);
    oscillator.stop(from + seconds);
  }
}
