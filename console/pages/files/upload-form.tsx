/** Dependencies of an upload. The rules of the daemon are checked first: a refusal after two gigabytes helps no one. */
import { useSignal } from '@preact/signals';
import { sizes, textLengths } from '../../../src/contract/limits.ts';
import { type Platform, platformNames, platforms, textShapes } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import type { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Field, FileField, useEntries } from '../../parts/field.tsx';
import { CheckBox } from '../../parts/inputs.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { sizeOf } from '../../text/numbers.ts';
import { text, packages as words } from '../../text/words.ts';

/** Fields that are sent besides the file. */
export interface PackageFields {
  readonly platform: string;
  readonly version: string;
  readonly versionName: string;
  readonly changelog: string;
  readonly minSupportVersion: string;
  readonly forceUpdate: boolean;
}

interface UploadFormProps {
  readonly onStart: (file: File, fields: PackageFields) => Promise<void>;
  readonly onCancel: () => void;
  /** Whether the person has ended the last upload. */
  readonly wasCanceled: boolean;
}

/** The browser checks the pattern of the contract. */
const versionInput = Object.assign(document.createElement('input'), { pattern: textShapes.packageVersion.pattern });

function isVersion(typed: string): boolean {
  versionInput.value = typed.trim();
  return versionInput.value !== '' && versionInput.checkValidity();
}

const extensions = Object.values(platforms).flat();

/** The extension of a file name in lower case, without the dot. */
const extensionOf = (name: string): string => /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** The platform of a file by its extension; null if it is not an installer package. */
const platformOf = (name: string): Platform | null =>
  platformNames.find(each => (platforms[each] as readonly string[]).includes(extensionOf(name))) ?? null;

/** Id of the version that a new package repeats, among the last 100 of its platform; null if none. The daemon checks all. */
async function existing(file: File, platform: Platform, version: string): Promise<string | null> {
  const { list } = await call('listAppVersions', { query: { size: 100, platform } });
  const isSame = (fileName: string) => extensionOf(fileName) === extensionOf(file.name);
  return list.find(app => app.version === version && isSame(app.fileName))?.versionId ?? null;
}

const first = { version: '', versionName: '', changelog: '', minSupportVersion: '', forceUpdate: false };
type PackageEntries = ReturnType<typeof useEntries<typeof first>>;

/** The form. The platform follows from the extension of the file. */
export function UploadForm({ onStart, onCancel, wasCanceled }: UploadFormProps) {
  const file = useSignal<File | null>(null);
  const repeated = useSignal<string | null>(null);
  const entries = useEntries(first);
  const { busy, problem, submit } = useAction();
  const { version, minSupportVersion: oldest } = entries;
  const isReady =
    file.value !== null &&
    !faultOf(file.value) &&
    isVersion(version.value) &&
    (!oldest.value || isVersion(oldest.value));
  const upload = async () => {
    const platform = file.value && platformOf(file.value.name);
    if (!file.value || !platform || !isReady) return;
    repeated.value = await existing(file.value, platform, version.value.trim());
    const given = Object.fromEntries(Object.entries(entries).map(([name, { value }]) => [name, value]));
    if (!repeated.value) await onStart(file.value, { platform, ...(given as typeof first) });
  };
  return (
    <form onSubmit={submit(upload)} onInput={() => (repeated.value = null)}>
      <FileField
        label={words.file}
        required
        onChoose={chosen => (file.value = chosen)}
        fault={file.value && faultOf(file.value)}
        accept={extensions.map(each => `.${each}`)}
      />
      <PackageFieldset entries={entries} repeated={repeated.value} />
      {wasCanceled && !busy.value && <p role="status">{words.canceled}</p>}
      <Failure problem={problem.value} />
      <p class="actions">
        <Button words={text.common.cancel} onClick={onCancel} />
        <Button words={words.action.create} type="submit" class="main" disabled={!isReady || busy.value} />
      </p>
    </form>
  );
}

function Failure({ problem }: { readonly problem: Problem | null }) {
  if (problem?.code !== 429) return <ProblemNotice problem={problem} />;
  return (
    <p class="problem" role="alert">
      {words.limit(minutesUntilNext(problem))}
    </p>
  );
}

/** Rounded up; an hour if the daemon did not say it. */
const minutesUntilNext = ({ data }: Problem): number => Math.ceil((Number(data) || 3600) / 60);

interface PackageFieldsetProps {
  readonly entries: PackageEntries;
  /** Id of the version that this one would repeat. */
  readonly repeated: string | null;
}

function PackageFieldset({ entries, repeated }: PackageFieldsetProps) {
  const { version, versionName, changelog, minSupportVersion, forceUpdate } = entries;
  const faultIn = (typed: string) => (typed && !isVersion(typed) ? words.wrongVersion : null);
  return (
    <>
      <Field
        label={words.version}
        entry={version}
        required
        placeholder="1.0.0"
        maxLength={textLengths.version}
        fault={repeated ? words.exists(repeated) : faultIn(version.value)}
      />
      <Field label={words.versionName} entry={versionName} maxLength={textLengths.versionName} />
      <Field label={words.changelog} entry={changelog} rows={4} maxLength={textLengths.changelog} />
      <Field
        label={words.oldestSupported}
        entry={minSupportVersion}
        maxLength={textLengths.version}
        fault={faultIn(minSupportVersion.value)}
      />
      <CheckBox words={words.forceUpdate} entry={forceUpdate} />
    </>
  );
}

function faultOf(file: File): string | null {
  if (!platformOf(file.name)) return words.wrongFile(extensions.join(', '));
  if (file.size === 0) return words.emptyFile;
  return file.size > sizes.package ? words.largeFile(sizeOf(sizes.package)) : null;
}
