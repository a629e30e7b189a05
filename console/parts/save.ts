/** Files that a person saves: what a page has made, and responses of the daemon. CSV is as the command line and the daemon write it. */
import { csvCell } from '../../src/contract/csv.ts';
import { inSlices } from './slices.ts';

/** Part of the File System Access API, which not every browser has. */
type Picker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;
const picker = (): Picker | undefined => (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;

/** Whether the browser can write to a file that the person chooses. */
export const canChooseFile = (): boolean => picker() !== undefined;

/** The file that the person chooses; null where the browser cannot write to one. */
export async function chooseFile(name: string): Promise<FileSystemFileHandle | 'canceled' | null> {
  const choose = picker();
  try {
    return choose ? await choose.call(window, { suggestedName: name }) : null;
  } catch {
    return 'canceled';
  }
}

/** Milliseconds for which a browser may take to begin a download before its content is released. */
const RELEASE_MS = 60_000;

/** Saves a text or bytes as a download. */
export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), RELEASE_MS);
}

/**
 * Saves a response of the daemon. Where the browser can write to a file that the person chooses, nothing of it is kept in memory.
 * `request` is called after the choice. Resolves without a request if the person chooses none; throws what `request` throws, or if
 * the response breaks off.
 */
export async function saveResponse(name: string, request: () => Promise<Response>): Promise<void> {
  const file = await chooseFile(name);
  if (file === 'canceled') return;
  const response = await request();
  if (!file) return save(name, await response.blob());
  await response.body?.pipeTo(await file.createWritable());
}

type SavedCells = readonly (string | number | null)[];

/** UTF-16 units of a part of a file. A file made of 100,000 lines at once stops the page for 0.1 s. */
const PART = 2 ** 16;

/** Saves a file with a header and a line for each row. Null becomes an empty cell. */
export async function saveCsv<R>(
  name: string,
  header: readonly string[],
  rows: readonly R[],
  cellsOf: (row: R) => SavedCells,
): Promise<void> {
  const lineOf = (cells: SavedCells) => `${cells.map(cell => csvCell(`${cell ?? ''}`)).join(',')}\r\n`;
  const parts: Blob[] = [];
  let text = lineOf(header);
  for await (const row of inSlices(rows)) {
    text += lineOf(cellsOf(row));
    if (text.length < PART) continue;
    parts.push(new Blob([text]));
    text = '';
  }
  save(name, new Blob([...parts, text], { type: 'text/csv' }));
}
