/** What has to change so that a registry is as a file describes it. No I/O. */
import type { RouteName } from '../../../contract/endpoints.ts';
import { isObject } from '../../../contract/json-object.ts';
import {
  bodySchema,
  isListed,
  isSecretField,
  type ListedSetting,
  type OneSetting,
  type PlainSchema,
  recordSchema,
  type SettingsRow,
  settingsRows,
} from '../../../contract/settings-file.ts';
import type { FileProblem, SettingsByPlace, SettingsFile, SettingsRecord } from './read.ts';

/** What the registry has, as responses have it. */
export type RegistrySettings = SettingsByPlace;

/** A field that differs. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** One change of the registry. */
export interface Step {
  readonly action: 'create' | 'update' | 'remove';
  readonly row: SettingsRow;
  /** Name of the record; empty for one that a registry has once. */
  readonly name: string;
  /** Its id; null if it does not exist yet. */
  readonly id: string | null;
  readonly changes: readonly FieldChange[];
  /** The record afterwards, without secrets. */
  readonly wanted: SettingsRecord;
  /** References to secrets that the change needs, by field, each with its line. */
  readonly secrets: Readonly<Record<string, { readonly reference: string; readonly line: number }>>;
}

/** The changes in their order, or why the file cannot be applied. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly problems: readonly FileProblem[];
}

interface PlanOptions {
  /** Whether records of a list of the file are removed if the list does not name them. */
  readonly prune: boolean;
  /** Name of the account that applies the file. */
  readonly ownName: string;
}

/** Compares a file with a registry. */
export function planOf(file: SettingsFile, registry: RegistrySettings, options: PlanOptions): Plan {
  const found = settingsRows.flatMap((row): readonly Plan[] => {
    const wanted = file.settings[row.place];
    if (wanted === undefined) return [];
    const existing = registry[row.place];
    if (existing === undefined)
      return [onlyProblem(file, row.place, `the registry does not have ${row.place}: its server leaves them out`)];
    return isListed(row)
      ? planOfList(file, row, existing as readonly SettingsRecord[], options)
      : [planOfOne(file, row, existing as SettingsRecord)];
  });
  const steps = found.flatMap(plan => plan.steps);
  const isRemoval = ({ action }: Step) => action === 'remove';
  return {
    steps: [...steps.filter(step => !isRemoval(step)), ...steps.filter(isRemoval).toReversed()],
    problems: found.flatMap(plan => plan.problems),
  };
}

const onlyProblem = (file: SettingsFile, place: string, message: string): Plan => ({
  steps: [],
  problems: [{ line: file.lineOf(place), message }],
});

function planOfOne(file: SettingsFile, row: OneSetting, existing: SettingsRecord): Plan {
  const { place } = row;
  const given = file.settings[place] as SettingsRecord;
  const { settings, references } = apart(row, given);
  const before = shownRecord(row, existing);
  const isSwitched = 'enabled' in before;
  const merged = mergedWith(before, isSwitched ? { enabled: true, ...settings } : settings);
  const wanted = isSwitched && merged.enabled === false ? { enabled: false } : merged;
  const changes = differences(before, wanted);
  if (changes.length === 0) return { steps: [], problems: [] };
  const isKept = before.enabled === true && !row.secretFor?.some(name => changes.some(({ field }) => field === name));
  const secrets = isKept || wanted.enabled === false ? {} : withLines(file, place, references);
  return { steps: [{ action: 'update', row, name: '', id: null, changes, wanted, secrets }], problems: [] };
}

function planOfList(
  file: SettingsFile,
  row: ListedSetting,
  all: readonly SettingsRecord[],
  { prune, ownName }: PlanOptions,
): readonly Plan[] {
  const { place, key, stored = text => text } = row;
  const given = file.settings[place] as readonly SettingsRecord[];
  const existing = all.filter(item => !row.ignores?.(item));
  const named = new Set(given.map(record => stored(String(record[key]))));
  const isOwn = (name: unknown) => place === 'accounts' && name === ownName;
  const plans = given.map((record, i): Plan => {
    const at = `${place}[${i}]`;
    const name = stored(String(record[key]));
    const item = existing.find(one => one[key] === name);
    const { settings, references } = apart(row, { ...record, [key]: name });
    if (item === undefined && row.keepsName && all.some(one => one[key] === name))
      return onlyProblem(
        file,
        `${at}.${key}`,
        `${at}.${key} is an account of single sign-on or of a HOLDER, which this file cannot have: remove the entry`,
      );
    if (item === undefined) {
      const changes = differences({}, settings).filter(({ field }) => field !== key);
      const secrets = withLines(file, at, references);
      return { steps: [{ action: 'create', row, name, id: null, changes, wanted: settings, secrets }], problems: [] };
    }
    const wanted = row.isRemoved?.(item) ? { ...row.restored, ...settings } : settings;
    const changes = differences(shownRecord(row, item), wanted);
    if (changes.length === 0) return { steps: [], problems: [] };
    if (isOwn(name) && (settings.disabled === true || settings.role !== 'ADMIN'))
      return onlyProblem(file, at, `${at} is the account that applies the file: it must stay an enabled ADMIN`);
    const changeable = changeableFields(row);
    const fixed = changes.find(({ field }) => !changeable.has(field));
    if (fixed)
      return onlyProblem(
        file,
        `${at}.${fixed.field}`,
        `${at}.${fixed.field} cannot be changed: a ${row.words} keeps it. Remove the ${row.words} first, or use another ${key}`,
      );
    const id = String(item[row.id]);
    return { steps: [{ action: 'update', row, name, id, changes, wanted, secrets: {} }], problems: [] };
  });
  if (!prune) return plans;
  const rest = existing.filter(item => !named.has(String(item[key])) && !row.isRemoved?.(item) && !isOwn(item[key]));
  const steps = rest.map((item): Step => {
    const [name, id] = [String(item[key]), String(item[row.id])];
    return { action: 'remove', row, name, id, changes: [], wanted: {}, secrets: {} };
  });
  return [...plans, { steps, problems: [] }];
}

/** Fields of a record that a change can set. */
function changeableFields(row: ListedSetting): ReadonlySet<string> {
  const names = row.update ? fieldsOf(row.update) : [];
  return new Set([...names, ...(row.switch ? [row.switch.field] : [])]);
}

/** Names of the fields of a body. */
export const fieldsOf = (operation: RouteName): readonly string[] =>
  Object.keys(bodySchema(operation).properties ?? {});

/** A record of the registry with the fields that a file has. */
export function shownRecord(row: SettingsRow, item: SettingsRecord): SettingsRecord {
  const all: SettingsRecord = { ...item, ...row.derived?.(item) };
  const names = Object.keys(recordSchema(row).properties ?? {});
  return Object.fromEntries(names.filter(name => all[name] !== undefined).map(name => [name, all[name]]));
}

/** A record without its references to secrets, and these. */
function apart(row: SettingsRow, record: SettingsRecord) {
  const operation = isListed(row) ? row.create : row.set;
  const properties = bodySchema(operation).properties ?? {};
  const isSecret = (name: string) => isSecretField(properties[name] ?? ({} as PlainSchema));
  const entries = Object.entries(record);
  return {
    settings: Object.fromEntries(entries.filter(([name]) => !isSecret(name))) as SettingsRecord,
    references: entries.filter(([name, value]) => isSecret(name) && value !== null) as [string, string][],
  };
}

const withLines = (file: SettingsFile, at: string, references: readonly (readonly [string, string])[]) =>
  Object.fromEntries(
    references.map(([name, reference]) => [name, { reference, line: file.lineOf(`${at}.${name}`) }] as const),
  );

/** A record with the fields of another one; what that one does not name stays, also within objects. */
function mergedWith(before: SettingsRecord, after: SettingsRecord): SettingsRecord {
  const entries = Object.entries(after).map(([name, value]) => {
    const inner = before[name];
    return [name, isRecord(value) && isRecord(inner) ? mergedWith(inner, value) : value] as const;
  });
  return { ...before, ...Object.fromEntries(entries) };
}

const isRecord = (value: unknown): value is SettingsRecord => isObject(value) && !Array.isArray(value);

/** The fields of `after` that differ. The order of lists does not matter. */
function differences(before: SettingsRecord, after: SettingsRecord): readonly FieldChange[] {
  return Object.entries(after)
    .filter(([field, value]) => !isDefault(before[field], value) && canonical(before[field]) !== canonical(value))
    .map(([field, value]) => ({ field, before: before[field] ?? null, after: value }));
}

/** Whether a file asks for the default, which the registry shows as an empty list. */
const isDefault = (before: unknown, after: unknown): boolean =>
  after === null && Array.isArray(before) && before.length === 0;

/** A value as a text that is equal for equal values: null and no value are one. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).toSorted().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`);
  return `{${members
    .filter(member => !member.endsWith(':null'))
    .toSorted()
    .join()}}`;
}
