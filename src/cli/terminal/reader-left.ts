/** Notices that the reader of standard output has gone while there is nothing to write. */
import { fstatSync } from 'node:fs';
import { tryOr } from '../fault.ts';

/** Milliseconds between two looks at the pipe. */
const lookMs = 250;
/** Bits of `revents` of poll(2): POLLERR and POLLHUP. */
const gone = 0x18;

/**
 * Calls `leave` once the reader of a pipe has gone. Returns the function that ends the watch. Node reports this only when it writes; the C
 * library can be asked, where Node can call it (from 26.1 on Unix). Elsewhere the next write ends the command, as before.
 */
export function onReaderLeft(leave: () => void): () => void {
  // Windows may have no descriptor 1.
  const hasLeft = tryOr(() => fstatSync(1).isFIFO(), false) ? lookAt(1) : null;
  if (hasLeft === null) return () => undefined;
  const timer = setInterval(() => {
    if (!hasLeft()) return;
    clearInterval(timer);
    leave();
  }, lookMs);
  return () => clearInterval(timer);
}

/** Null if the C library cannot be asked. */
function lookAt(descriptor: number): (() => boolean) | null {
  const { emitWarning } = process;
  try {
    // Node reports at the first use that the module is experimental.
    process.emitWarning = () => undefined;
    const { dlopen } = process.getBuiltinModule('node:ffi');
    const { poll } = dlopen(null, { poll: { arguments: ['pointer', 'u64', 'i32'], return: 'i32' } }).functions;
    // struct pollfd: int fd, short events, short revents.
    const entry = Buffer.alloc(8);
    entry.writeInt32LE(descriptor, 0);
    return () => poll(entry, 1n, 0) > 0 && (entry.readInt16LE(6) & gone) !== 0;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}
