/** The name a client gives a file: kept to be shown and offered at a download, never used as a path. */

/** Characters at most, as a folder of the client's machine takes them. */
const LONGEST = 255;
const unwanted = /[\u0000-\u001f\u007f-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;

/**
 * The last part of the path, without control, invisible and direction-changing characters; a name that is too long loses
 * the end of its stem and keeps its extension. Empty where nothing is left.
 */
export function cleanFileName(given: string): string {
  const base = given.toWellFormed().split(/[/\\]/).at(-1)!.replace(unwanted, '').trim();
  return base === '.' || base === '..' ? '' : shortened(base).trim();
}

/** In lower case and without the dot; empty where there is none. A name that only begins with a dot has none. */
export function extensionOf(fileName: string): string {
  const dot = fileName.lastIndexOf('.');
  return dot > 0 ? fileName.slice(dot + 1).toLowerCase() : '';
}

function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= LONGEST) return name;
  const extension = [...name.slice(name.lastIndexOf('.'))];
  const kept = name.includes('.') && extension.length < LONGEST ? extension : [];
  return [...characters.slice(0, LONGEST - kept.length), ...kept].join('');
}
