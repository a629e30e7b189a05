import { cp } from 'node:fs/promises';
import { homeFiles } from '../../src/contract/local.ts';

/** Copies a home, also of a running daemon: without its socket, which Node does not copy. */
export const copyHome = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: file => !file.endsWith(homeFiles.socket) });
