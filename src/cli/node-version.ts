import { Fault } from './fault.ts';

/** The oldest Node that the native packages are made for: with an earlier one the daemon would crash without a word. */
export const leastNode = '22.19';

export function isNodeGood(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastNode.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** Refuses to go on where Node is too old. */
export function checkNode(version: string): void {
  if (isNodeGood(version)) return;
  throw new Fault(
    'failure',
    `Node ${version} is too old for the daemon`,
    `install Node ${leastNode} or later, or use the executable that brings its own`,
  );
}
