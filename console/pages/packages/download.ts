/** The download of a package, checked on the way: a damaged one is not saved. */
import type { AppVersion } from '../../../src/contract/apps.ts';
import { open } from '../../api/request.ts';
import { canChooseFile, chooseFile, save } from '../../parts/save.ts';

/** Largest package that a browser without access to files keeps in memory, in bytes. */
const MAX_IN_MEMORY = 256 * 1024 * 1024;

/** The result of a download. */
export type DownloadEnd = 'saved' | 'damaged' | 'canceled';

/** Whether this browser can save a package of this size. */
export const canSave = ({ fileSize }: AppVersion): boolean => canChooseFile() || fileSize <= MAX_IN_MEMORY;

/**
 * Downloads a package. Where the browser can write to a file that the person chooses, nothing of it is kept in memory, and the file gets its content
 * only when the digest is right. `onReceived` gets the bytes that were received. Throws `Problem`, and what the browser throws if the disk is full.
 */
export async function download(
  app: AppVersion,
  onReceived: (bytes: number) => void,
  signal: AbortSignal,
): Promise<DownloadEnd> {
  const target = await chooseFile(app.fileName);
  if (target === 'canceled') return target;
  const { beginDigest } = await import('./digest.ts');
  const response = await open('downloadAppVersion', { params: { versionId: app.versionId } }, { signal });
  const digest = beginDigest();
  let received = 0;
  const check = new TransformStream<Uint8Array, Uint8Array>({
    async transform(piece, controller) {
      await digest.add(piece);
      received += piece.length;
      onReceived(received);
      controller.enqueue(piece);
    },
  });
  const content = (response.body ?? new Blob().stream()).pipeThrough(check);
  const isRight = () => received === app.fileSize && digest.hex() === app.sha256;
  if (!target) {
    const whole = await new Response(content).blob();
    if (!isRight()) return 'damaged';
    save(app.fileName, whole);
    return 'saved';
  }
  const file = await target.createWritable();
  await content.pipeTo(file, { preventClose: true });
  if (!isRight()) {
    await file.abort();
    return 'damaged';
  }
  await file.close();
  return 'saved';
}
