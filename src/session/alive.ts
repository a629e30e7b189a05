import { systemCode } from '../fault.ts';

/** Whether a process of that id exists. It may be another than the one that once had it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
