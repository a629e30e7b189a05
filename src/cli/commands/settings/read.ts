/** Reads a file of settings. No I/O. All problems are found at once, each with its line; no message has a value of the file. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { isListed, type PlainSchema, settingsRows, settingsSchema } from '../../../contract/settings-file.ts';
import { compileReader } from '../../../contract/validate.ts';
import { safe } from '../../terminal/text.ts';

/** What is wrong in a file. */
export interface FileProblem {
  readonly line: number;
  readonly message: string;
}

/** A record, as the file or the registry has it. */
export type SettingsRecord = Readonly<Record<string, unknown>>;

/** Records by the place of their row: one, or a list. Absent: the file does not name them. */
export type SettingsByPlace = Readonly<Record<string, SettingsRecord | readonly SettingsRecord[]>>;

/** A file that can be applied. */
export interface SettingsFile {
  readonly settings: SettingsByPlace;
  /** Line of a place, such as `accounts[0].role`; of the nearest place around it if the file does not have it. */
  lineOf(place: string): number;
}

/** A file, or all that is wrong in it. */
export type ReadSettings = { readonly file: SettingsFile } | { readonly problems: readonly FileProblem[] };

const schema = settingsSchema();
const read = compileReader(schema as unknown as Parameters<typeof compileReader>[0]);
/** Longest name of a field that a message repeats. */
const longestName = 60;

/** The settings in a text. */
export function readSettings(text: string): ReadSettings {
  const counter = new LineCounter();
  const lineAt = (offset: number) => counter.linePos(offset).line || 1;
  try {
    // The library compares each name with all others of its map; the walk finds those that occur twice in linear time.
    const document = parseDocument(text, {
      lineCounter: counter,
      prettyErrors: false,
      schema: 'core',
      uniqueKeys: false,
    });
    const broken = [...document.errors, ...document.warnings].map(({ code, pos: [offset] }) => ({
      line: lineAt(offset),
      message: yamlWords[code] ?? `this is not valid YAML (${code})`,
    }));
    if (broken.length > 0) return { problems: broken };
    const walk = new Walk();
    walk.visit(document.contents as Node | null, schema, '');
    const lineOf = (place: string) => lineAt(walk.offsetOf(place));
    const inLines = (problems: readonly Problem[]) =>
      problems
        .map(({ place, message }) => ({ line: lineOf(place), message: safe(message) }))
        .toSorted((a, b) => a.line - b.line);
    if (walk.problems.length > 0) return { problems: inLines(walk.problems) };
    const result = read(document.toJS() ?? {});
    if (!result.ok)
      return {
        problems: inLines(
          result.details.map(({ field, reason }) => ({ place: field, message: `${field || 'the file'} ${reason}` })),
        ),
      };
    const settings = byPlace(result.value as SettingsRecord);
    const repeated = repeatedKeys(settings);
    return repeated.length > 0 ? { problems: inLines(repeated) } : { file: { settings, lineOf } };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problems: [{ line: 1, message: 'the file is nested too deeply' }] };
  }
}

const yamlWords: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab cannot indent a line: use spaces',
  MULTIPLE_DOCS: 'the file has more than one document',
};

interface Problem {
  readonly place: string;
  readonly message: string;
}

/** Where the settings are that a file could be expected to have. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['limits', ': limits are variables of the environment of each daemon, DEVMGR_LIMIT_QUERY and others'],
  ['retention', ': how long persons are kept is retentionDays and copiesDays of policies.people'],
]);

/** Where each value is, and names that the schema does not have. */
class Walk {
  readonly problems: Problem[] = [];
  readonly #offsets = new Map<string, number>();

  /** The offset of a place, or of the nearest one around it. */
  offsetOf(place: string): number {
    for (let at = place; at !== ''; at = at.replace(/(?:^|\.)[^.[\]]*$|\[\d*\]$/, '')) {
      const offset = this.#offsets.get(at);
      if (offset !== undefined) return offset;
    }
    return this.#offsets.get('') ?? 0;
  }

  visit(node: Node | null, schema: PlainSchema | undefined, place: string): void {
    if (node?.range && !this.#offsets.has(place)) this.#offsets.set(place, node.range[0]);
    if (isAlias(node)) this.#report(place, 'an alias (*) cannot be used here: write the value');
    if (isSeq(node))
      for (const [i, item] of node.items.entries()) this.visit(item as Node, itemsOf(schema), `${place}[${i}]`);
    if (!isMap(node)) return;
    const properties = propertiesOf(schema);
    const names = new Set<string>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const inner = place === '' ? name : `${place}.${name}`;
      const { range } = key as Node;
      if (range) this.#offsets.set(inner, range[0]);
      if (names.has(name)) this.#report(inner, 'this name occurs twice');
      names.add(name);
      if (properties && !Object.hasOwn(properties, name))
        this.#report(
          inner,
          `unknown field "${name.slice(0, longestName)}"${place === '' ? (elsewhere.get(name) ?? '') : ` in ${place}`}`,
        );
      else this.visit(value as Node | null, properties?.[name], inner);
    }
  }

  #report(place: string, message: string): void {
    this.problems.push({ place, message });
  }
}

/** The schema itself, or that of the value beside null. */
const nonNull = (schema: PlainSchema | undefined): PlainSchema | undefined =>
  schema?.anyOf?.find(({ type }) => type !== 'null') ?? schema;
const propertiesOf = (schema: PlainSchema | undefined) => nonNull(schema)?.properties;
const itemsOf = (schema: PlainSchema | undefined) => nonNull(schema)?.items;

/** The value at a path of names. */
const partOf = (value: SettingsRecord, place: string): unknown =>
  place.split('.').reduce<unknown>((part, name) => (part as SettingsRecord | undefined)?.[name], value);

function byPlace(value: SettingsRecord): SettingsByPlace {
  const found = settingsRows.map(({ place }) => [place, partOf(value, place)] as const);
  return Object.fromEntries(found.filter(([, part]) => part !== undefined && part !== null)) as SettingsByPlace;
}

/** Records of one list with the same name. */
function repeatedKeys(settings: SettingsByPlace): readonly Problem[] {
  return settingsRows.filter(isListed).flatMap(({ place, key, stored = text => text }) => {
    const names = new Set<string>();
    return ((settings[place] ?? []) as readonly SettingsRecord[]).flatMap((record, i) => {
      const name = stored(String(record[key]));
      const isRepeated = names.has(name);
      names.add(name);
      return isRepeated
        ? [
            {
              place: `${place}[${i}].${key}`,
              message: `${place}[${i}].${key} is the same as an earlier one: a name occurs once`,
            },
          ]
        : [];
    });
  });
}
