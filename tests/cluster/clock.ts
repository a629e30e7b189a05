/** The wall clock of some processes, which a test can set. Their timers run by the monotonic clock and are not touched. */
import { writeFileSync } from 'node:fs';
import { fakeTimeLibrary } from './requirements.ts';

export class Clock {
  readonly #file: string;

  /** `file`: the file to create, which shows how far the clock is off. */
  constructor(file: string) {
    this.#file = file;
    this.set(0);
  }

  /** Of the processes that this clock is for. libfaketime reads the file once a second. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: fakeTimeLibrary()!,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Puts the clock so many minutes ahead, or back if negative. It runs on. */
  set(minutes: number): void {
    writeFileSync(this.#file, `${minutes < 0 ? '-' : '+'}${Math.abs(minutes)}m\n`);
  }
}
