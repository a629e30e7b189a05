/** The station of this tab: it continues while the person looks at other pages, and after a reload. */
import { call } from '../../api/request.ts';
import { preferences } from '../../preferences.ts';
import { storedIn } from '../../stored.ts';
import { text } from '../../text/words.ts';
import type { BegunKeys } from './held-keys.ts';
import { registry } from './registry.ts';
import type { IssueKey, StoredRun } from './results.ts';
import { type RunStore, StationRun } from './run.ts';

let current: { readonly userId: string; readonly run: StationRun } | null = null;

/** The run of a person who is signed in. That of another person is not continued. */
export function runOf(userId: string): StationRun {
  if (current?.userId !== userId) {
    const parts = {
      registry,
      issueKey: issueLater,
      store: tabStore(userId),
      begun,
      now: Date.now,
      isAttached,
      sound: beep,
    };
    current = { userId, run: new StationRun(parts) };
  }
  return current.run;
}

const STORED = 'devmgr.station';

/** Keeps the run in sessionStorage. What another person has left there is not read. */
function tabStore(userId: string): RunStore {
  return {
    read() {
      const stored = storedIn<{ user: string; run: StoredRun }>('sessionStorage', STORED);
      return stored?.user === userId ? stored.run : null;
    },
    write(run) {
      try {
        sessionStorage.setItem(STORED, JSON.stringify({ user: userId, run }));
      } catch {
        // The run is too large for the storage of a tab: it continues, and a reload starts over.
        sessionStorage.removeItem(STORED);
      }
    },
  };
}

const BEGUN = 'devmgr.begun';

/** In localStorage: who continues in another tab needs it. */
const begun: BegunKeys = {
  read: () => storedIn<Record<string, string>>('localStorage', BEGUN) ?? {},
  write(keys) {
    try {
      if (Object.keys(keys).length === 0) localStorage.removeItem(BEGUN);
      else localStorage.setItem(BEGUN, JSON.stringify(keys));
    } catch {
      // Without storage the registry alone tells which keys a person has.
    }
  },
};

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

const tones = {
  good: { hertz: 880, starts: [0], seconds: 0.12 },
  bad: { hertz: 220, starts: [0, 0.25], seconds: 0.18 },
} as const;
/** So loud that it is heard beside a machine, and does not hurt in headphones. */
const volume = 0.2;

let context: AudioContext | null = null;

/**
 * Sounds for the operator: one high tone for a key that has passed or is bound, two low ones otherwise; nothing if the person has switched
 * it off. A browser stays silent until its page was clicked or typed in once.
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
