/** What an upload needs to know. The rules of the daemon are checked first: a refusal after two gigabytes helps no one. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { sizes, textLengths } from '../../../src/contract/limits.ts';
import { platforms, textShapes } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import { Field } from '../../parts/field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary, text } from '../../text/text.ts';
import { existing, platformOf } from './requests.ts';
import type { PackageFields } from './send.ts';
import { sizeOf } from './sizes.ts';

const packageWords = dictionary('packages');

interface UploadFormProps {
  readonly onStart: (file: File, fields: PackageFields) => Promise<void>;
  readonly onCancel: () => void;
  /** Why the last upload failed. */
  readonly children: ComponentChildren;
}

const nothing = { version: '', versionName: '', changelog: '', minSupportVersion: '', forceUpdate: false };

/** The browser checks the pattern of the contract. */
const versionInput = Object.assign(document.createElement('input'), { pattern: textShapes.packageVersion.pattern });

function isVersion(typed: string): boolean {
  versionInput.value = typed.trim();
  return versionInput.value !== '' && versionInput.checkValidity();
}

const extensions = Object.values(platforms).flat();

/** The form. The platform follows from the extension of the file. */
export function UploadForm({ onStart, onCancel, children }: UploadFormProps) {
  const words = packageWords.value;
  const file = useSignal<File | null>(null);
  const entered = useSignal(nothing);
  const repeated = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const { version, versionName, changelog, minSupportVersion, forceUpdate } = entered.value;
  const enter = (change: Partial<typeof nothing>) => {
    repeated.value = null;
    entered.value = { ...entered.value, ...change };
  };
  const platform = file.value && platformOf(file.value.name);
  const fault = file.value && faultOf(file.value);
  const isReady =
    file.value !== null && !fault && isVersion(version) && (!minSupportVersion || isVersion(minSupportVersion));
  const submit = (event: Event) => {
    event.preventDefault();
    const chosen = file.peek();
    if (!chosen || !platform || !isReady) return;
    void run(async () => {
      const found = await existing(chosen, platform, version.trim());
      repeated.value = found?.versionId ?? null;
      if (!found) void onStart(chosen, { platform, ...entered.peek() });
    });
  };
  const versionFault = version && !isVersion(version) ? words.wrongVersion : null;
  return (
    <form onSubmit={submit}>
      <FileField fault={fault} onFile={chosen => (file.value = chosen)} />
      <Field
        label={words.version}
        value={version}
        onText={typed => enter({ version: typed })}
        required
        autocomplete="off"
        placeholder="1.0.0"
        maxLength={textLengths.version}
        fault={repeated.value ? words.exists(repeated.value) : versionFault}
      />
      <Field
        label={words.versionName}
        value={versionName}
        onText={typed => enter({ versionName: typed })}
        autocomplete="off"
        maxLength={textLengths.versionName}
      />
      <Changelog value={changelog} onText={typed => enter({ changelog: typed })} />
      <Field
        label={words.oldestSupported}
        value={minSupportVersion}
        onText={typed => enter({ minSupportVersion: typed })}
        autocomplete="off"
        maxLength={textLengths.version}
        fault={minSupportVersion && !isVersion(minSupportVersion) ? words.wrongVersion : null}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={forceUpdate}
          onChange={event => enter({ forceUpdate: event.currentTarget.checked })}
        />
        {words.forceUpdate}
      </label>
      <ProblemNotice problem={problem.value} />
      {children}
      <p class="actions">
        <button type="button" onClick={onCancel}>
          {text.value.common.cancel}
        </button>
        <button type="submit" class="main" disabled={!isReady || busy.value}>
          {words.upload}
        </button>
      </p>
    </form>
  );
}

function faultOf(file: File): string | null {
  const words = packageWords.value;
  if (!platformOf(file.name)) return words.wrongFile(extensions.join(', '));
  if (file.size === 0) return words.emptyFile;
  return file.size > sizes.package ? words.largeFile(sizeOf(sizes.package)) : null;
}

interface FileFieldProps {
  readonly fault: string | null;
  readonly onFile: (file: File | null) => void;
}

function FileField({ fault, onFile }: FileFieldProps) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{packageWords.value.file}</label>
      <input
        id={id}
        type="file"
        required
        accept={extensions.map(each => `.${each}`).join(',')}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-fault`}
        onChange={event => onFile(event.currentTarget.files?.[0] ?? null)}
      />
      <small id={`${id}-fault`} class="fault">
        {fault}
      </small>
    </p>
  );
}

function Changelog({ value, onText }: { readonly value: string; readonly onText: (typed: string) => void }) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{packageWords.value.changelog}</label>
      <textarea
        id={id}
        rows={4}
        value={value}
        maxLength={textLengths.changelog}
        onInput={event => onText(event.currentTarget.value)}
      />
    </p>
  );
}
