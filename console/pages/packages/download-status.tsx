/** What the page reports about a download. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AppVersion } from '../../../src/contract/apps.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { text, packages as words } from '../../text/words.ts';
import { canSave, type DownloadEnd, download } from './download.ts';
import { sizeOf } from './sizes.ts';

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
        <progress max={fileSize} value={received} aria-label={text.common.of(words.action.download, fileName)} />
      </p>
      <Button words={text.common.cancel} onClick={onCancel} />
    </div>
  );
}
