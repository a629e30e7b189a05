/** The dialogs that store a backup of a device, and report a use. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { longestUse, sizes, textLengths } from '../../../src/contract/limits.ts';
import { call } from '../../api/request.ts';
import { upload } from '../../api/upload.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field, FileField } from '../../parts/field.tsx';
import { toast } from '../../parts/toast.ts';
import { device as deviceWords, text } from '../../text/words.ts';

type DeviceDialogProps = Readonly<{ deviceId: string; onDone: () => void; onClose: () => void }>;

/** Asks for the file and sends it. Closing the dialog ends the upload, and nothing is stored. */
export function AddBackup({ deviceId, onDone, onClose }: DeviceDialogProps) {
  const words = deviceWords.backups;
  const file = useSignal<File | null>(null);
  const note = useSignal('');
  const sent = useSignal<number | null>(null);
  const abort = useMemo(() => new AbortController(), []);
  useEffect(() => () => abort.abort(), []);
  const size = file.value?.size ?? 0;
  const fault = file.value && (size === 0 || size > sizes.backup) ? words.fault : null;
  const send = async () => {
    if (!file.value) return;
    const onSent = (bytes: number) => (sent.value = bytes);
    try {
      const { backupId } = await upload(
        'createBackup',
        { deviceId },
        file.value,
        { note: note.value.trim() },
        { onSent, signal: abort.signal },
      );
      toast(words.added(backupId));
      onDone();
    } finally {
      sent.value = null;
    }
  };
  return (
    <ActionDialog
      title={`${words.add}: ${deviceId}`}
      submit={words.add}
      isReady={size > 0 && fault === null}
      onClose={onClose}
      onSubmit={send}
    >
      <p class="hint">{words.hint}</p>
      <FileField label={text.column.file} required fault={fault} onChoose={chosen => (file.value = chosen)} />
      <Field label={text.common.optional(text.column.note)} entry={note} maxLength={textLengths.note} />
      {sent.value !== null && <progress max={size} value={sent.value} aria-label={words.sending} />}
    </ActionDialog>
  );
}

/** Asks how long the device was used. */
export function RecordUse({ deviceId, onDone, onClose }: DeviceDialogProps) {
  const words = deviceWords.use;
  const minutes = useSignal('');
  const seconds = Math.round(Number(minutes.value.replace(',', '.')) * 60);
  const isReady = minutes.value.trim() !== '' && seconds >= 0 && seconds <= longestUse;
  return (
    <ActionDialog
      title={`${words.title}: ${deviceId}`}
      submit={words.title}
      isReady={isReady}
      onClose={onClose}
      onSubmit={async key => {
        await call('recordUsage', { params: { deviceId }, body: { durationSeconds: seconds } }, { key });
        onDone();
      }}
    >
      <p class="hint">{words.hint}</p>
      <Field label={words.minutes} entry={minutes} required fault={minutes.value && !isReady ? words.fault : null} />
    </ActionDialog>
  );
}
