let pending = 0;

/** Counts a native call that cannot be canceled until it settles. Returns the same promise. */
export function trackNativeCall<T>(call: Promise<T>): Promise<T> {
  pending += 1;
  const settled = () => {
    pending -= 1;
  };
  call.then(settled, settled);
  return call;
}

/** How many native calls are pending. After every driver has stopped: those that an unresponsive card or key still holds. */
export function nativeCallsOut(): number {
  return pending;
}

/**
 * Ends this process with `status` like `process.exit`, even during a stuck native call. A normal exit waits for the
 * thread of that call, which can last until someone removes the card. In that case the process image is replaced by a
 * shell that exits, and `exit` listeners do not run. Call it after everything else is closed.
 */
export function endProcess(status: number): never {
  if (pending > 0 && process.execve && process.platform !== 'win32') {
    process.execve('/bin/sh', ['sh', '-c', `exit ${Math.trunc(status) & 0xff}`], {});
  }
  process.exit(status);
}
