/** The download of a package, checked on the way: a damaged one is not saved. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AppVersion } from '../../../src/contract/apps.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { open } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { canChooseFile, chooseFile, save } from '../../parts/save.ts';
import { sizeOf } from '../../text/numbers.ts';
import { text, packages as words } from '../../text/words.ts';

/** Largest package that a browser without access to files keeps in memory, in bytes. */
const MAX_IN_MEMORY = 256 * 1024 * 1024;

/** The result of a download. */
type DownloadEnd = 'saved' | 'damaged' | 'canceled';

/** Whether this browser can save a package of this size. */
const canSave = ({ fileSize }: AppVersion): boolean => canChooseFile() || fileSize <= MAX_IN_MEMORY;

/**
 * Downloads a package. Where the browser can write to a file that the person chooses, nothing of it is kept in memory, and the
 * file gets its content only when the digest is right. `onReceived` gets the bytes that were received. Throws `Problem`, and what
 * the browser throws if the disk is full.
 */
async function download(
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

/** A download and how far it is. */
interface DownloadProgress {
  readonly app: AppVersion;
  readonly received: number;
  /** `running`, how it ended, or that the browser cannot save it. */
  readonly state: DownloadEnd | 'running' | 'impossible';
  readonly problem: Problem | null;
}

/** The downloads of a page, one at a time. They end with the page. */
export function useDownload(): {
  readonly current: Signal<DownloadProgress | null>;
  start(app: AppVersion): void;
  cancel(): void;
} {
  const current = useSignal<DownloadProgress | null>(null);
  const abort = useRef(new AbortController());
  const cancel = () => abort.current.abort();
  useEffect(() => cancel, []);
  const start = async (app: AppVersion) => {
    cancel();
    abort.current = new AbortController();
    const { signal } = abort.current;
    const show = (change: Partial<DownloadProgress>) => {
      if (abort.current.signal === signal)
        current.value = { app, received: 0, state: 'running', problem: null, ...change };
    };
    if (!canSave(app)) return show({ state: 'impossible' });
    show({});
    try {
      show({ state: await download(app, received => show({ received }), signal) });
    } catch (error) {
      show({ state: 'canceled', problem: problemOf(error) });
    }
  };
  return { current, start: app => void start(app), cancel };
}

type DownloadStatusProps = Readonly<{ current: DownloadProgress; onCancel: () => void }>;

/** The progress or the end of a download. */
export function DownloadStatus({ current, onCancel }: DownloadStatusProps) {
  const { app, received, state, problem } = current;
  const { fileName, fileSize, versionId } = app;
  if (state === 'canceled') return <ProblemNotice problem={problem} />;
  if (state === 'saved') return <p role="status">{words.saved(fileName)}</p>;
  if (state === 'damaged')
    return (
      <p class="problem" role="alert">
        {words.damaged(fileName)}
      </p>
    );
  if (state === 'impossible')
    return (
      <p role="status">
        {words.tooLarge} <code>devmgr apps download {versionId}</code>
      </p>
    );
  return (
    <div class="bar">
      <p>
        {fileName}: {words.progress(sizeOf(received), sizeOf(fileSize))}
        <progress max={fileSize} value={received} aria-label={text.common.of(text.record.action.download, fileName)} />
      </p>
      <Button words={text.common.cancel} onClick={onCancel} />
    </div>
  );
}
