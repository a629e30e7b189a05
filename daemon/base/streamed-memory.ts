/** Memory of content that passes through the process: uploads, downloads, exports. */

const MiB = 1024 * 1024;

/** Bytes of all streams together after which the memory of young objects is looked at. */
const STEP = 16 * MiB;
/** Bytes that young objects may take while content is streamed. V8 doubles their memory up to 64 MiB otherwise. */
const MOST_YOUNG = 8 * MiB;
/** Milliseconds without a step after which V8 may enlarge that memory again: registrations cost less processor time with more of it. */
const RELEASED_AFTER = 10_000;

/** The memory of young objects of a process. */
interface YoungMemory {
  /** Bytes that their memory has. */
  size(): number;
  /** The factor by which V8 enlarges it the next time: 2, its default, or 1 to keep it. */
  growBy(factor: 1 | 2): void;
}

/**
 * Keeps the memory of young objects small while content is streamed. Objects that wait for the garbage collection make V8 enlarge it,
 * and the process keeps that memory. Slow streams change nothing: V8 reduces that memory on its own if little is allocated.
 */
export class YoungGrowth {
  readonly #memory: YoungMemory;
  #streamed = 0;
  #held: NodeJS.Timeout | null = null;

  constructor(memory: YoungMemory) {
    this.#memory = memory;
  }

  /** Counts bytes of any stream. */
  streamed(bytes: number): void {
    this.#streamed += bytes;
    if (this.#streamed < STEP) return;
    this.#streamed = 0;
    if (this.#memory.size() * 2 > MOST_YOUNG) this.#hold();
    else this.#release();
  }

  #hold(): void {
    if (this.#held) this.#held.refresh();
    else {
      this.#memory.growBy(1);
      this.#held = setTimeout(() => this.#release(), RELEASED_AFTER).unref();
    }
  }

  #release(): void {
    if (!this.#held) return;
    clearTimeout(this.#held);
    this.#held = null;
    this.#memory.growBy(2);
  }
}

/** Loaded when content is streamed, not at the start. */
const v8 = () => process.getBuiltinModule('node:v8');

/** The young objects of this process. V8 reads the factor each time it enlarges their memory. */
export const youngGrowth = new YoungGrowth({
  size: () =>
    v8()
      .getHeapSpaceStatistics()
      .find(space => space.space_name === 'new_space')?.space_size ?? 0,
  growBy: factor => v8().setFlagsFromString(`--semi-space-growth-factor=${factor}`),
});

/** Size in bytes of the smallest buffer that is detached; the sender may still use a smaller one. */
const LARGE = 16 * 1024;

/**
 * Counts a piece of streamed content and frees its memory at once: 64 MiB would accumulate before each garbage collection. Only
 * buffers from the socket are large. The multipart parser also emits the bytes that it held back because they resemble a boundary
 * (at most 256), and continues to use that buffer.
 */
export function detach(buffer: Buffer): void {
  youngGrowth.streamed(buffer.byteLength);
  const memory = buffer.buffer;
  if (buffer.byteLength < LARGE || !(memory instanceof ArrayBuffer)) return;
  if (buffer.byteLength === memory.byteLength) memory.transfer(0);
}
