/** The dialogs that import what the registry trusts, and that judge stored evidence again. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type TrustPurpose, trustPurposes } from '../../../src/contract/key-values.ts';
import { proofBounds } from '../../../src/contract/limits.ts';
import { call, type Data } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Field, FileField, useEntries } from '../../parts/field.tsx';
import { Choice } from '../../parts/inputs.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { labels } from '../../text/text.ts';
import { trust as trustWords } from '../../text/words.ts';

/** Asks for a file, imports it, then shows the fingerprints that a person compares. */
export function Import({ onClose, onDone }: DialogProps) {
  const file = useSignal<File | null>(null);
  const { purpose, label, aaguids } = useEntries({ purpose: 'scp11b' as TrustPurpose, label: '', aaguids: '' });
  const submit = async (_key: string, follow: (next: ComponentChildren) => void) => {
    const form = new FormData();
    const models = aaguids.value
      .toLowerCase()
      .split(/[\s,;]+/)
      .filter(Boolean);
    form.append('purpose', purpose.value);
    if (label.value.trim()) form.append('label', label.value.trim());
    if (models.length > 0 && purpose.value === 'fido') form.append('aaguids', models.join(','));
    form.append('file', file.value!);
    const imported = await call('importTrust', {}, { form });
    onDone();
    follow(<Imported imported={imported} onClose={onClose} />);
  };
  return (
    <ActionDialog title={trustWords.action.create} isReady={file.value !== null} onSubmit={submit} onClose={onClose}>
      <FileField label={trustWords.file} required onChoose={chosen => (file.value = chosen)} />
      <Choice
        label={trustWords.column.vouches}
        hint={trustWords.purposeHint}
        entry={purpose}
        values={trustPurposes}
        words={labels(trustWords.purpose)}
      />
      {purpose.value === 'fido' && (
        <Field label={trustWords.aaguids} hint={trustWords.aaguidsHint} entry={aaguids} rows={3} class="code" />
      )}
      <Field label={trustWords.label} entry={label} maxLength={proofBounds.trustLabel} />
    </ActionDialog>
  );
}

type ImportedProps = Readonly<{ imported: Data<'importTrust'>; onClose: () => void }>;

const Imported = ({ imported: { metadata, certificates, warnings }, onClose }: ImportedProps) => (
  <Dialog title={trustWords.imported} onClose={onClose}>
    {metadata && <p>{trustWords.metadata(metadata.number)}</p>}
    {certificates.length > 0 && <p>{trustWords.compare}</p>}
    <FactList
      class=""
      facts={certificates.map(({ fingerprint, subject }) => [subject, fingerprint])}
      valueClass="code fingerprint"
    />
    {warnings.map(warning => (
      <p key={warning} role="alert">
        {warning}
      </p>
    ))}
    <p class="hint">{trustWords.judge.next}</p>
    <CloseButton onClose={onClose} />
  </Dialog>
);

/** Judges all stored evidence, a portion at a time; leaving the dialog ends it after the present one. */
export function JudgeAgain({ onClose, onDone }: DialogProps) {
  const words = trustWords.judge;
  const judged = useSignal<number | null>(null);
  const end = useMemo(() => new AbortController(), []);
  useEffect(() => () => end.abort(), []);
  const submit = async (key: string) => {
    const sum = { judged: 0, changed: 0 };
    for (let after: number | null = 0; after !== null; ) {
      judged.value = sum.judged;
      const options = { key: `${key}.${after}`, signal: end.signal };
      const portion: Data<'judgeProofsAgain'> = await call('judgeProofsAgain', { body: { after } }, options);
      sum.judged += portion.judged;
      sum.changed += portion.changed;
      after = portion.next;
    }
    onDone(words.done(sum.judged, sum.changed));
  };
  return (
    <ActionDialog title={words.title} onSubmit={submit} onClose={onClose}>
      <p>{words.hint}</p>
      <p role="status">{judged.value !== null && words.progress(judged.value)}</p>
    </ActionDialog>
  );
}
