/** The dialog that uploads a package. */
import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import type { AppVersion } from '../../../src/contract/apps.ts';
import type { Problem } from '../../api/problem.ts';
import { Button } from '../../parts/button.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { FactList } from '../../parts/facts.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { packages as words } from '../../text/words.ts';
import { sizeOf } from './sizes.ts';
import { UploadForm } from './upload-form.tsx';
import { PackageUpload, type UploadPhase } from './upload-state.ts';

/** Asks for the package, sends it, and compares the digests. Esc leaves the form and the result; an upload is ended by its button alone. */
export function UploadDialog({ onClose, onDone }: DialogProps) {
  const upload = useMemo(() => new PackageUpload(), []);
  const phase = upload.phase.value;
  const isSending = useComputed(() => upload.phase.value.name === 'sending').value;
  useEffect(() => () => upload.dispose(), [upload]);
  // The cleanup of other effects waits for the next frame: a page that removes the dialog and reloads would be stopped.
  useLayoutEffect(() => {
    if (!isSending) return;
    const keep = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', keep);
    return () => removeEventListener('beforeunload', keep);
  }, [isSending]);
  return (
    <Dialog title={words.action.create} onClose={() => isSending || onClose()}>
      {phase.name !== 'done' && (
        // The form stays while the package is sent: after a refusal nothing has to be entered again.
        <div hidden={isSending}>
          <UploadForm
            onCancel={onClose}
            onStart={async (file, fields) => {
              if (await upload.start(file, fields)) onDone();
            }}
          >
            {phase.name === 'form' && <Failure phase={phase} />}
          </UploadForm>
        </div>
      )}
      {phase.name === 'sending' && <Sending {...phase} onCancel={upload.cancel} />}
      {phase.name === 'done' && <Done app={phase.app} digest={phase.digest} onClose={onClose} />}
    </Dialog>
  );
}

function Failure({ phase: { problem, wasCanceled } }: { readonly phase: UploadPhase & { readonly name: 'form' } }) {
  if (wasCanceled) return <p role="status">{words.canceled}</p>;
  if (problem?.code !== 429) return <ProblemNotice problem={problem} />;
  return (
    <p class="problem" role="alert">
      {words.limit(minutesUntilNext(problem))}
    </p>
  );
}

/** Rounded up; an hour if the daemon did not say it. */
const minutesUntilNext = ({ data }: Problem): number => Math.ceil((Number(data) || 3600) / 60);

type SendingProps = Readonly<{ file: File; done: number; isStored: boolean; onCancel: () => void }>;

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

type DoneProps = Readonly<{ app: AppVersion; digest: string | null; onClose: () => void }>;

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
