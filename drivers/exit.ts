let out = 0;

/** Counts a native call that nothing can take back until it has settled. */
export function trackNativeCall<T>(call: Promise<T>): Promise<T> {
  out += 1;
  const settled = () => {
    out -= 1;
  };
  call.then(settled, settled);
  return call;
}

/** How many native calls are out. After `stop` of every driver: those that a silent card or key still holds. */
export function nativeCallsOut(): number {
  return out;
}

/**
 * Ends this process with `status`, as `process.exit` does, but even while a native call is stuck: an ordinary exit waits
 * for the thread of such a call, that is until someone pulls the card. Then the process becomes a shell that exits; no
 * `exit` listener runs in that case. To be called when everything else is closed.
 */
export function endProcess(status: number): never {
  if (out > 0 && process.execve && process.platform !== 'win32') {
    process.execve('/bin/sh', ['sh', '-c', `exit ${Math.trunc(status) & 0xff}`], {});
  }
  process.exit(status);
}
