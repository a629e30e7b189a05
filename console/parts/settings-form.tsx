/** The fields of settings that are stored as a whole. Each is a row of a table; the type checker compares the rows with the contract. */
import { type Signal, signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { BodyOf } from '../../src/contract/define.ts';
import type { RouteName } from '../../src/contract/endpoints.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { demandUnchanged, Problem } from '../api/problem.ts';
import { settingsForm, text } from '../text/words.ts';
import { Field } from './field.tsx';
import { CheckBox, Choice } from './inputs.tsx';

/** How a field is entered. */
export interface SettingField {
  /** Absent: a line of text. `lines`: a list, one item in each line. `secret`: never shown; the stored one is kept if it is empty. */
  readonly kind?: 'lines' | 'prose' | 'secret' | 'flag' | 'number' | 'choice';
  readonly maxLength?: number;
  readonly isNeeded?: boolean;
  /** Whether it is among the further settings, which a person opens. */
  readonly isRare?: true;
  /** Whether an empty list stands for the usual items, and not for none. */
  readonly isUsualIfEmpty?: true;
  /** The item of a line, and the line of an item. Absent: the line itself. */
  readonly item?: { readonly of: (line: string) => unknown; readonly lineOf: (item: never) => string };
}

type Plain = string | number | boolean | readonly unknown[];
type PathsOf<T> = {
  [K in keyof T & string]-?: NonNullable<T[K]> extends Plain ? K : `${K}.${PathsOf<NonNullable<T[K]>>}`;
}[keyof T & string];
/** A row for each field that an operation sets, but for those that its dialog has itself. */
export type FieldsOf<N extends RouteName> = Readonly<
  Record<Exclude<PathsOf<BodyOf<Routes[N]>>, 'enabled' | 'name'>, SettingField>
>;

type Fields = Readonly<Record<string, SettingField>>;
/** Texts by field. */
type Texts = Readonly<Record<string, string>>;

const at = (settings: object, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], settings);

function textOf({ item }: SettingField, value: unknown): string {
  if (!Array.isArray(value)) return `${value ?? ''}`;
  return value.map(each => (item ? item.lineOf(each as never) : each)).join('\n');
}

const textsOf = (fields: Fields, settings: object): Texts =>
  Object.fromEntries(Object.entries(fields).map(([path, field]) => [path, textOf(field, at(settings, path))]));

/** What a change replaces besides the fields of its form. */
const besides: Fields = { enabled: {}, name: {} };

/** The lines of a text that have something in them. */
const linesOf = (entered: string): string[] =>
  entered
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);

/** Null stands for the usual value. A number that is none stays a text, which the daemon refuses. */
function settingOf({ kind, item, isUsualIfEmpty }: SettingField, entered: string): unknown {
  if (kind === 'flag') return entered === 'true';
  if (kind === 'secret') return entered || undefined;
  if (kind === 'lines') {
    const lines = linesOf(entered).map(line => item?.of(line) ?? line);
    return lines.length === 0 && isUsualIfEmpty ? null : lines;
  }
  const value = entered.trim();
  return kind === 'number' && /^\d+$/.test(value) ? Number(value) : value || null;
}

/** The entries of a form. */
interface SettingsForm {
  readonly fields: Fields;
  readonly texts: Signal<Texts>;
  /** Why the daemon has refused fields. */
  readonly faults: Signal<Texts>;
  /** Whether each field that is needed has something in it. */
  readonly isReady: boolean;
  /**
   * Sends what was entered; the fields that are refused are marked. `stored`: reads the settings that are replaced. Rejects with
   * `changed` if they are not those that the form began with.
   */
  send<T>(work: (body: object) => Promise<T>, stored?: () => Promise<object>): Promise<T>;
}

/** The entries of a form that begins with these settings. Other `fields` begin it again. */
export function useSettingsForm(fields: Fields, before: object): SettingsForm {
  const { texts, faults } = useMemo(() => {
    return { texts: signal(textsOf(fields, before)), faults: signal<Texts>({}) };
  }, [fields, before]);
  const bodyOf = () => {
    const body: Record<string, unknown> = {};
    for (const [path, field] of Object.entries(fields)) {
      const [name = '', inner] = path.split('.');
      const value = settingOf(field, texts.value[path] ?? '');
      body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value };
    }
    return body;
  };
  return {
    fields,
    texts,
    faults,
    isReady: Object.entries(fields).every(([path, { isNeeded }]) => !isNeeded || texts.value[path]?.trim()),
    async send(work, stored = async () => before) {
      faults.value = {};
      try {
        const all = { ...fields, ...besides };
        demandUnchanged(textsOf(all, await stored()), textsOf(all, before));
        return await work(bodyOf());
      } catch (error) {
        if (error instanceof Problem) faults.value = faultsOf(fields, error);
        throw error;
      }
    },
  };
}

/** The reasons by field; that of an item is a reason of its list. */
const faultsOf = (fields: Fields, { details }: Problem): Texts =>
  Object.fromEntries(
    details.flatMap(({ field, reason }) => {
      const path = Object.keys(fields).find(name => field === name || field.startsWith(`${name}[`));
      return path === undefined ? [] : [[path, settingsForm.refused(reason)]];
    }),
  );

interface SettingsFieldsProps {
  readonly form: SettingsForm;
  readonly labels: Texts;
  readonly hints?: Texts;
  /** The words for the values of choices. */
  readonly choices?: Readonly<Record<string, Texts>>;
}

/** The fields, those that few registries need below the others. */
export function SettingsFields(props: SettingsFieldsProps) {
  const { fields, faults } = props.form;
  const isOpen = useSignal(false);
  const paths = Object.keys(fields);
  const rare = paths.filter(path => fields[path]!.isRare);
  const fieldOf = (path: string) => <SettingEntry key={path} path={path} {...props} />;
  return (
    <>
      {paths.filter(path => !rare.includes(path)).map(fieldOf)}
      {rare.length > 0 && (
        <details
          open={isOpen.value || rare.some(path => faults.value[path])}
          onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
        >
          <summary>{settingsForm.further}</summary>
          {rare.map(fieldOf)}
        </details>
      )}
    </>
  );
}

function SettingEntry({ form, labels, hints, choices, path }: SettingsFieldsProps & { readonly path: string }) {
  const { fields, texts, faults } = form;
  const { kind, maxLength, isNeeded = false } = fields[path]!;
  const label = labels[path]!;
  const value = texts.value[path] ?? '';
  const onChange = (entered: string) => {
    texts.value = { ...texts.value, [path]: entered };
    faults.value = { ...faults.value, [path]: '' };
  };
  if (kind === 'flag')
    return <CheckBox words={label} value={value === 'true'} onChange={isOn => onChange(`${isOn}`)} />;
  if (kind === 'choice') {
    const words = choices![path]!;
    return <Choice label={label} values={Object.keys(words)} words={words} value={value} onChange={onChange} />;
  }
  return (
    <Field
      label={isNeeded ? label : text.common.optional(label)}
      fault={faults.value[path] || null}
      hint={hints?.[path] ?? (kind === 'lines' ? settingsForm.perLine : undefined)}
      value={value}
      onChange={onChange}
      required={isNeeded}
      {...(kind === 'secret' && { type: 'password' })}
      {...((kind === 'lines' || kind === 'prose') && { rows: 2, class: 'code' })}
      {...(maxLength && { maxLength })}
    />
  );
}
