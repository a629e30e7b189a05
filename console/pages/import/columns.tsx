/** Field of each column of a file, and the values for lines that have none. */
import { describedTexts } from '../../../src/contract/device-description.ts';
import { isTagName } from '../../../src/contract/tags.ts';
import { type DeviceType, deviceTypes, tagColumn } from '../../../src/contract/values.ts';
import type { TableColumn } from '../../../src/tables/columns.ts';
import type { DeviceField } from '../../../src/tables/fields.ts';
import { presets } from '../../../src/tables/presets.ts';
import { looksLikeKey } from '../../../src/tables/secrets.ts';
import { Field } from '../../parts/field.tsx';
import { CheckBox, Choice } from '../../parts/inputs.tsx';
import { Table } from '../../parts/table.tsx';
import { device as deviceWords, text, importing as words } from '../../text/words.ts';
import type { FileImport } from './state.ts';

const fields = ['serialNumber', 'deviceType', ...Object.keys(describedTexts)] as readonly Exclude<
  DeviceField,
  'tags' | 'proofId'
>[];

/** A field for each column. A preset knows the columns of other programs. */
export function Columns({ state }: { readonly state: FileImport }) {
  const settings = state.settings.value;
  const rows = (state.head.value ?? []).map((column, i) => ({ ...column, i }));
  return (
    <section>
      <h2>{text.common.columns}</h2>
      <Choice
        label={words.preset}
        value={settings.preset}
        values={['', ...presets]}
        words={words.presets}
        onChange={preset => void state.set({ ...settings, preset, chosen: {} })}
      />
      <Field
        label={words.columns}
        hint={words.columnsHint}
        value={settings.columns ?? ''}
        onChange={columns => void state.set({ ...settings, columns })}
      />
      <Field
        label={words.where}
        hint={words.whereHint}
        value={settings.where ?? ''}
        onChange={where => state.keep({ ...settings, where })}
      />
      {rows.length > 0 && (
        <Table
          title={text.common.columns}
          heads={words.column}
          columns={{
            // A file without a header row: its first line may hold a secret.
            name: ({ name }) => (looksLikeKey(name) ? '…' : name),
            field: column => <FieldOf column={column} state={state} />,
            example: ({ example }) => example,
          }}
          rowHead="name"
          rows={rows}
          keyOf={({ i }) => i}
          isOneLine
        />
      )}
      <Defaults state={state} />
    </section>
  );
}

/** The name of the tag that a column can become; null if its name has no letter to begin with. */
function tagOf(column: string): string | null {
  const name = column.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-');
  return isTagName(name) ? name : null;
}

type FieldOfProps = Readonly<{ column: TableColumn<DeviceField>; state: FileImport }>;

function FieldOf({ column: { name, field, tag, isSecret }, state }: FieldOfProps) {
  if (isSecret || looksLikeKey(name)) return <>{words.secret}</>;
  const slug = tag ?? tagOf(name);
  return (
    <Choice<string>
      isInline
      label={words.fieldOf(name)}
      value={tag === null ? (field ?? '') : `${tagColumn}${tag}`}
      values={['', ...fields, ...(slug === null ? [] : [`${tagColumn}${slug}`])]}
      words={{
        '': words.ignored,
        ...deviceWords.facts,
        ...(slug !== null && { [`${tagColumn}${slug}`]: words.tag(slug) }),
      }}
      onChange={chosen => state.assign(name, (chosen || null) as DeviceField | null)}
    />
  );
}

function Defaults({ state }: { readonly state: FileImport }) {
  const settings = state.settings.value;
  const { defaults } = settings;
  const change = (name: 'deviceType' | 'manufacturer' | 'model', value: string) => {
    const { [name]: _, ...others } = defaults;
    state.keep({ ...settings, defaults: value ? { ...others, [name]: value as DeviceType } : others });
  };
  return (
    <fieldset class="choices line">
      <legend>{words.defaults}</legend>
      <Choice<DeviceType | ''>
        label={deviceWords.facts.deviceType}
        value={defaults.deviceType ?? ''}
        values={['', ...deviceTypes]}
        words={{ '': words.noDefault, ...text.type }}
        onChange={type => change('deviceType', type)}
      />
      {(['manufacturer', 'model'] as const).map(name => (
        <Field
          key={name}
          label={deviceWords.facts[name]}
          value={defaults[name] ?? ''}
          maxLength={describedTexts[name].max}
          onChange={value => change(name, value)}
        />
      ))}
      <CheckBox
        words={words.asIs}
        value={settings.asIs ?? false}
        onChange={asIs => state.keep({ ...settings, asIs })}
      />
    </fieldset>
  );
}
