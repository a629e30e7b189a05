import type { BackgroundWork } from './background-work.ts';
import type { Logger } from './logger.ts';

/** The parts that were started, to be stopped in reverse order. */
export class ShutdownStack {
  readonly #stops: (() => unknown)[] = [];
  #stopping: Promise<void> | undefined;

  add(stop: () => unknown): void {
    this.#stops.push(stop);
  }

  /** Starts work, which is stopped with the other parts. */
  start(work: BackgroundWork): void {
    work.start();
    this.add(() => work.stop());
  }

  unwind(log: Logger): Promise<void> {
    this.#stopping ??= (async () => {
      for (const stop of this.#stops.reverse()) {
        try {
          await stop();
        } catch (error) {
          log.error({ err: error }, 'a part did not stop cleanly');
        }
      }
    })();
    return this.#stopping;
  }
}
