import type { Programs } from '../../src/contract/programs.ts';

const other = () => Promise.reject(new Error('not a program of this process'));
/** For a process of a test that runs none of the daemon's programs. */
export const noPrograms: Programs = {
  run: other,
  copy: other,
  init: other,
  backup: other,
  restore: other,
  check: other,
  audit: other,
  rotateKey: other,
  resetPassword: other,
};
