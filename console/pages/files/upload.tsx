/** The upload of a package, from the form to the comparison of the digests. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { AppVersion } from '../../../src/contract/apps.ts';
import { upload } from '../../api/upload.ts';
import { Button } from '../../parts/button.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { FactList } from '../../parts/facts.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { sizeOf } from '../../text/numbers.ts';
import { packages as words } from '../../text/words.ts';
import { type PackageFields, UploadForm } from './upload-form.tsx';

/** How far an upload is. */
interface UploadProgress {
  readonly file: File;
  /** Bytes that are sent; when the daemon has stored the package, those that are part of the digest. */
  readonly done: number;
  readonly isStored: boolean;
}

interface UploadedPackage {
  readonly app: AppVersion;
  /** Of the file in this browser; null if it could not be read again. */
  readonly digest: string | null;
}

/** Sends the file and reads it a second time for its digest, both piece by piece. Throws `Problem`, and AbortError if `signal` aborts. */
async function uploadPackage(
  file: File,
  fields: PackageFields,
  show: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<UploadedPackage> {
  let read = 0;
  let isStored = false;
  const onSent = (done: number) => show({ file, done, isStored });
  const onRead = (bytes: number) => {
    read = bytes;
    if (isStored) onSent(read);
  };
  const { digestOf } = await import('./digest.ts');
  signal.throwIfAborted();
  // If the file cannot be read, the daemon may have stored it all the same: the result of the upload counts.
  const digest = digestOf(file, onRead, signal).catch(() => null);
  const app = await upload('uploadAppVersion', {}, file, { ...fields }, { onSent, signal });
  isStored = true;
  onSent(read);
  return { app, digest: await digest };
}

/** Asks for the package, sends it, and compares the digests. Esc leaves the form and the result; an upload is ended by its button alone. */
export function UploadDialog({ onClose, onDone }: DialogProps) {
  const sending = useSignal<UploadProgress | null>(null);
  const uploaded = useSignal<UploadedPackage | null>(null);
  const wasCanceled = useSignal(false);
  const abort = useRef<AbortController | null>(null);
  // The daemon discards what it has received of a package that is not stored yet.
  const cancel = () => abort.current?.abort();
  const isSending = sending.value !== null;
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
      cancel();
    },
    [],
  );
  // The cleanup of other effects waits for the next frame: a page that removes the dialog and reloads would be stopped.
  useLayoutEffect(() => {
    if (!isSending) return;
    const keep = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', keep);
    return () => removeEventListener('beforeunload', keep);
  }, [isSending]);
  const start = async (file: File, fields: PackageFields) => {
    if (isGone.current) return;
    const end = new AbortController();
    abort.current = end;
    const show = (progress: UploadProgress) => {
      if (!end.signal.aborted) sending.value = progress;
    };
    show({ file, done: 0, isStored: false });
    try {
      uploaded.value = await uploadPackage(file, fields, show, end.signal);
      onDone();
    } finally {
      wasCanceled.value = end.signal.aborted;
      end.abort();
      sending.value = null;
    }
  };
  return (
    <Dialog title={words.action.create} onClose={() => isSending || onClose()}>
      {uploaded.value ? (
        <Done {...uploaded.value} onClose={onClose} />
      ) : (
        // The form stays while the package is sent: after a refusal nothing has to be entered again.
        <div hidden={isSending}>
          <UploadForm wasCanceled={wasCanceled.value} onCancel={onClose} onStart={start} />
        </div>
      )}
      {sending.value && <Sending {...sending.value} onCancel={cancel} />}
    </Dialog>
  );
}

type SendingProps = UploadProgress & { readonly onCancel: () => void };

const Sending = ({ file, done, isStored, onCancel }: SendingProps) => (
  <>
    <p>{words.sending(file.name)}</p>
    <progress max={file.size} value={done} aria-label={words.sending(file.name)} />
    <p class="hint">{isStored ? words.checking : words.progress(sizeOf(done), sizeOf(file.size))}</p>
    <p class="actions">
      <Button isFocused words={words.cancel} disabled={isStored} onClick={onCancel} />
    </p>
  </>
);

type DoneProps = UploadedPackage & { readonly onClose: () => void };

function Done({ app, digest, onClose }: DoneProps) {
  const isSame = app.sha256 === digest;
  return (
    <>
      <p role={isSame ? 'status' : 'alert'}>
        <strong>{words.uploaded(app.versionId)}</strong> {resultOf(app, digest)}
      </p>
      <FactList
        facts={[
          [words.ofFile, !isSame && digest],
          [words.ofDaemon, app.sha256],
        ]}
        valueClass="code"
      />
      <CloseButton onClose={onClose} />
    </>
  );
}

function resultOf(app: AppVersion, digest: string | null): string {
  if (digest === null) return words.notCompared;
  return digest === app.sha256 ? words.same : words.different;
}
