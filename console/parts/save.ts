/** Files that a person saves: what a page has made, and responses of the daemon. */

/** Part of the File System Access API, which not every browser has. */
interface SavePicker {
  showSaveFilePicker?(options: {
    readonly suggestedName: string;
  }): Promise<{ createWritable(): Promise<WritableStream<Uint8Array>> }>;
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
 * Saves a response of the daemon. Where the browser can write to a file that the person chooses, nothing of it is kept in memory. `request` is called
 * after the choice. Resolves without a request if the person chooses none; throws what `request` throws, or if the response breaks off.
 */
export async function saveResponse(name: string, request: () => Promise<Response>): Promise<void> {
  const { showSaveFilePicker } = window as SavePicker;
  if (!showSaveFilePicker) return save(name, await (await request()).blob());
  let file: Awaited<ReturnType<typeof showSaveFilePicker>>;
  try {
    file = await showSaveFilePicker.call(window, { suggestedName: name });
  } catch {
    return;
  }
  const response = await request();
  await response.body?.pipeTo(await file.createWritable());
}
