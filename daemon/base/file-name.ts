/** The name that a client gives a file: stored to be shown and offered for downloads, never used as a path. */
import { withoutUnsafe } from '../../src/contract/text.ts';

/** Longest name in characters: what file systems of clients accept. */
const MAX_LENGTH = 255;

/**
 * The last part of the path, without control, invisible and direction-changing characters. A name that is too long loses the
 * end of its stem and keeps its extension. Empty if nothing is left.
 */
export function cleanFileName(given: string): string {
  const base = withoutUnsafe(given.toWellFormed().split(/[/\\]/).at(-1)!).trim();
  return base === '.' || base === '..' ? '' : shortened(base).trim();
}

/** Lower case, without the dot; empty if there is none. In a name like `.profile` the dot does not start an extension. */
export function extensionOf(fileName: string): string {
  const dot = fileName.lastIndexOf('.');
  return dot > 0 ? fileName.slice(dot + 1).toLowerCase() : '';
}

function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= MAX_LENGTH) return name;
  const extension = [...name.slice(name.lastIndexOf('.'))];
  const ending = name.includes('.') && extension.length < MAX_LENGTH ? extension : [];
  return [...characters.slice(0, MAX_LENGTH - ending.length), ...ending].join('');
}
