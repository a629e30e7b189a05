/** The flags of every command that reads rows of a file: which columns, which rows, which names. */
import type { ColumnChoice, RowCondition } from '../../tables/choices.ts';
import { ChoiceFault, parseColumns, parseMap, parseWhere } from '../../tables/choices.ts';
import type { FieldSet } from '../../tables/fields.ts';
import type { Preset } from '../../tables/presets.ts';
import { usage } from '../fault.ts';
import { type Context, notify } from '../framework/context.ts';
import { definedFields } from '../framework/define.ts';
import type { FlagShapes } from '../framework/flags.ts';
import { savedMap, storeMap } from '../settings/maps.ts';
import { encodingFlag, encodingOf } from './input-file.ts';

/** The flags; `needs` is the flag that names the file, if it is not an argument. */
export const tableFlags = (flag?: string) => {
  const needs = flag === undefined ? {} : { needs: flag };
  return {
    encoding: { ...encodingFlag, ...needs },
    map: {
      value: 'FIELD=COLUMN',
      many: 'whole',
      ...needs,
      help: 'column that a field is read from; separate several with commas; or the name of a saved map',
    },
    where: {
      value: 'COLUMN=VALUE',
      many: 'whole',
      ...needs,
      help: 'only rows whose column has this value; can be repeated',
    },
    'save-map': {
      value: 'NAME',
      ...needs,
      help: 'save --map, --where, --columns and --encoding under this name, for --map NAME',
    },
    columns: { value: 'NAMES', ...needs, help: 'names of the columns of a file without a header row; - skips one' },
  } as const satisfies FlagShapes;
};

/** Values of these flags. */
export interface TableFlags {
  readonly encoding: string | undefined;
  readonly map: readonly string[];
  readonly where: readonly string[];
  readonly columns: string | undefined;
  readonly saveMap?: string | undefined;
}

/** The choices of a person for a file. */
export interface TableChoices<Field extends string> {
  /** As `encodingOf` reads it. */
  readonly encoding: string | null;
  readonly map: readonly ColumnChoice<Field>[];
  readonly where: readonly RowCondition[];
  readonly columns: readonly string[] | null;
  /** Whose file it is; null if `--map` names none. */
  readonly preset: Preset | null;
}

/** Reads the flags. A `--map` without `=` is the name of a preset or of a saved map. Throws a usage fault. */
export function tableChoices<Field extends string>(
  { settings }: Context,
  flags: TableFlags,
  fields: FieldSet<Field>,
  presets: readonly Preset[] = [],
): TableChoices<Field> {
  const names = flags.map.filter(text => !text.includes('=')).map(name => name.trim().toLowerCase());
  const preset = presets.find(known => names.includes(known)) ?? null;
  const named = names.filter(name => name !== preset).map(name => savedMap(settings.home, name, presets));
  const saved = { map: named.flatMap(each => each.map), where: named.flatMap(each => each.where) };
  return {
    preset,
    encoding: encodingOf(flags.encoding ?? named.find(each => each.encoding)?.encoding),
    map: inFlag('--map', () => parseMap([...saved.map, ...flags.map.filter(text => text.includes('='))], fields)),
    where: inFlag('--where', () => parseWhere([...saved.where, ...flags.where])),
    columns: columnsOf(flags.columns ?? named.find(each => each.columns)?.columns),
  };
}

/** Saves the flags of a file that could be read, if `--save-map` names a map. The name of a preset is refused. */
export async function keepMap(context: Context, flags: TableFlags, presets: readonly string[] = []): Promise<void> {
  const { saveMap: name, map, where, columns, encoding } = flags;
  if (name === undefined) return;
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name) || presets.includes(name))
    throw usage(
      `--save-map "${name}" cannot be the name of a map`,
      'use at most 32 of a to z, 0 to 9, _ and -; names of presets are taken',
    );
  await storeMap(context.settings.home, name, { map, where, ...definedFields({ columns, encoding }) });
  notify(context, `The map is saved: --map ${name}. To see all: devmgr config maps.`);
}

const columnsOf = (text: string | undefined): readonly string[] | null =>
  text === undefined ? null : parseColumns(text);

function inFlag<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ChoiceFault) throw usage(`${flag}: ${error.message}`, error.hint ?? undefined);
    throw error;
  }
}

/** Reads `--leavers`: a column, and the values that mark who leaves. Null if no one does. Throws a usage fault. */
export function leaverCondition(texts: readonly string[]): RowCondition | null {
  const [condition = null, other] = inFlag('--leavers', () => parseWhere(texts));
  if (other)
    throw usage(`--leavers names two columns: ${condition!.column}, ${other.column}`, 'give values of one column');
  return condition;
}
