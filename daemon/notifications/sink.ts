/** A connection as the stream sees it: bytes go in, and it tells how far they got. */
export interface Sink {
  /** Takes the bytes of whole frames. They are shared: nobody may change them. */
  write(frames: Buffer): void;
  /** True while no more is to be written. `Consumer.drained` is called when it is over. */
  readonly full: boolean;
  /** Bytes written that the system has not taken yet. */
  readonly waiting: number;
  /** Bytes that the system has taken so far. */
  readonly taken: number;
  ping(): void;
  /** Begins an orderly end: what was written still goes out. `Consumer.gone` is called when it is over. */
  close(code: number, reason: string): void;
  /** Ends at once. */
  terminate(): void;
}
