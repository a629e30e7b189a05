/** The keys that are plugged into the machine of the daemon, as they change. */
import { effect, signal } from '@preact/signals';
import type { Key } from '../../../src/contract/hardware.ts';
import { KeyChanges } from '../../../src/enrollment/line/key-changes.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { connections, onEvents, streamState } from '../../api/stream.ts';
import { recognition } from './registry.ts';
import type { StationRun } from './run.ts';

/** Milliseconds between two lists while keys are not watched. */
const BLIND_MS = 1500;

/** Follows the keys for a run while the page is shown. */
export class KeyFollower {
  /** Why the list cannot be read; null if it can. */
  readonly problem = signal<Problem | null>(null);
  /** Whether the first characters of a scan have come. */
  isTyping = (): boolean => false;
  readonly #run: StationRun;
  readonly #keys: KeyChanges;
  /** Whether an event of the stream is being taken: then the moment of the change is known. */
  #isSeen = false;
  readonly #attached = new Set<string>();

  constructor(run: StationRun) {
    this.#run = run;
    this.#keys = new KeyChanges(({ type, key, again, isSeen }) => {
      if (type === 'KEY_DETACHED') {
        this.#attached.delete(key.keyId);
        run.pulled(key.keyId, this.#isSeen && isSeen, this.isTyping());
      } else {
        this.#attached.add(key.keyId);
        this.#plugged(key, (this.#isSeen || again) && isSeen);
      }
    });
  }

  /** A key that reports no serial number is attached again under that of its device, if the registry recognizes it. */
  #plugged(key: Key, isSeen: boolean): void {
    if (key.serialNumber !== null) {
      this.#run.plugged(key, isSeen);
      return;
    }
    void recognition.recognized(key).then(found => {
      if (found.serialNumber === null && this.#attached.has(key.keyId)) this.#run.plugged(key, isSeen);
    });
  }

  /** Follows the keys until the function that it returns is called. What happens to a key in the meantime binds nothing. */
  start(): () => void {
    this.#run.suspend();
    const stops = [
      onEvents(events => {
        this.#isSeen = true;
        for (const { type, data } of events) {
          // The data of these types is a key.
          if (type === 'KEY_ATTACHED') this.#keys.attach(data as unknown as Key);
          if (type === 'KEY_DETACHED') this.#keys.detach(data as unknown as Key);
        }
        this.#isSeen = false;
      }),
      effect(() => {
        if (streamState.value !== 'lost') return;
        this.#keys.doubt();
        const { person, roster } = this.#run.view.peek();
        // Without anyone to bind keys to, the operator needs no sound.
        if (person === null && roster === null) this.#run.suspend();
        else this.#run.take({ type: 'lost' });
      }),
      effect(() => {
        // Each connection: what was plugged in or unplugged before it has sent no event.
        connections.value;
        void this.reload();
      }),
    ];
    const timer = setInterval(() => this.#keys.isBlind && void this.reload(), BLIND_MS);
    return () => {
      clearInterval(timer);
      for (const stop of stops) stop();
      this.#run.suspend();
    };
  }

  readonly reload = async (): Promise<void> => {
    try {
      await this.#keys.update(() => call('listKeys', {}));
      this.#run.keepOnly(this.#attached);
      this.problem.value = null;
    } catch (error) {
      this.problem.value = problemOf(error);
    }
  };
}
