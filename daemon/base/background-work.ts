/** Work that a daemon does in the background, from `start` until `stop`. */
export abstract class BackgroundWork {
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  start(): void {
    this.#ended = this.run(this.#stop.signal);
  }

  /** Waits until the current run has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Resolves soon after the signal is aborted. Never rejects. */
  protected abstract run(signal: AbortSignal): Promise<void>;
}
