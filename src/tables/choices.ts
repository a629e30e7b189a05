/** The choices of a person for a file: `--map FIELD=COLUMN`, `--where COLUMN=VALUE`, `--columns`. Text in, choices out. */
import { isTagName } from '../contract/tags.ts';
import { tagColumn } from '../contract/values.ts';
import { InvalidInput } from './fault.ts';
import { columnNamed, type FieldSet, meaningsOf } from './fields.ts';
import { isSecretName } from './secrets.ts';

/** The choice of a person for a column. */
export interface ColumnChoice<Field extends string> {
  /** `tag:NAME` is a tag, null ignores the column. */
  readonly field: Field | `tag:${string}` | null;
  readonly column: string;
  /** How it reads if the file lacks the column: `COLUMN=FIELD` of two names of fields. */
  readonly otherwise?: { readonly field: Field; readonly column: string };
}

/** A row is read if the column has one of the values, in upper or lower case. */
export interface RowCondition {
  readonly column: string;
  readonly values: readonly string[];
}

/** A choice that cannot be taken: `problem` follows the name of the flag. */
export class ChoiceFault extends Error {
  readonly hint: string | null;
  constructor(problem: string, hint: string | null = null) {
    super(problem);
    this.hint = hint;
  }
}

/**
 * Reads `--map`: `FIELD=COLUMN`, several separated by commas. A part without `=` belongs to the name of the column before it
 * (`name=Last name, First name`). `COLUMN=FIELD` of earlier versions is read as well. Throws `ChoiceFault`.
 */
export function parseMap<Field extends string>(
  texts: readonly string[],
  fields: FieldSet<Field>,
): ColumnChoice<Field>[] {
  const choices = texts.flatMap(text => pairsOf(text).map(pair => choiceOf(pair, fields)));
  const twice = choices.find(
    ({ field }, index) => field !== null && choices.findIndex(each => each.field === field) !== index,
  );
  if (twice) throw new ChoiceFault(`names two columns for ${twice.field}`);
  return choices;
}

/** Splits at commas; a part without `=` belongs to the part before it. */
function pairsOf(text: string): string[] {
  const pairs: string[] = [];
  for (const part of text.split(','))
    if (part.includes('=') || pairs.length === 0) pairs.push(part);
    else pairs.push(`${pairs.pop()},${part}`);
  return pairs;
}

function choiceOf<Field extends string>(pair: string, fields: FieldSet<Field>): ColumnChoice<Field> {
  const [first, last] = [pair.indexOf('='), pair.lastIndexOf('=')];
  const left = pair.slice(0, first).trim();
  const right = pair.slice(first + 1).trim();
  if (first <= 0 || left === '' || right === '')
    throw new ChoiceFault(`"${pair.trim()}" is not COLUMN=FIELD or FIELD=COLUMN`);
  const own = fieldNamed(left, fields, true);
  const other = fieldNamed(pair.slice(last + 1).trim(), fields, true);
  const earlier = {
    field: other ?? fieldNamed(pair.slice(last + 1).trim(), fields, false),
    column: pair.slice(0, last).trim(),
  };
  const field = own ?? (other === null ? fieldNamed(left, fields, false) : null);
  if (field !== null) {
    const otherwise = own !== null && other !== null ? { otherwise: { field: other as Field, column: left } } : {};
    return checkedChoice({ field, column: unquoted(right), ...otherwise });
  }
  if (earlier.field !== null) return checkedChoice({ field: earlier.field, column: unquoted(earlier.column) });
  if (right.includes(','))
    throw new ChoiceFault(`"${right.slice(right.lastIndexOf(',') + 1).trim()}" is not COLUMN=FIELD or FIELD=COLUMN`);
  throw new ChoiceFault(
    `"${right}" is not a field, nor is "${left}"`,
    `fields are ${fields.map(rule => rule.field).join(', ')}, tag:NAME`,
  );
}

function checkedChoice<Field extends string>(choice: ColumnChoice<Field>): ColumnChoice<Field> {
  if (isSecretName(choice.column))
    throw new ChoiceFault(
      `column "${choice.column}" holds secrets, which are never sent`,
      'if it holds none, rename the column in the file',
    );
  return choice;
}

/** `"Last name, First name"` in quotes of its own. */
const unquoted = (name: string): string => (/^"[^"]+"$/.test(name) ? name.slice(1, -1) : name);

function fieldNamed<Field extends string>(
  text: string,
  fields: FieldSet<Field>,
  exactly: boolean,
): Field | `tag:${string}` | null {
  if (text.startsWith(tagColumn)) return isTagName(text.slice(tagColumn.length)) ? (text as `tag:${string}`) : null;
  const [meaning] = meaningsOf(fields, text);
  return meaning !== undefined && (!exactly || meaning.isOwn) ? meaning.field : null;
}

/** Reads `--where`: `COLUMN=VALUE`. Several for one column allow each of the values. Throws `ChoiceFault`. */
export function parseWhere(texts: readonly string[]): RowCondition[] {
  const values = new Map<string, string[]>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const column = text.slice(0, Math.max(at, 0)).trim();
    if (column === '') throw new ChoiceFault(`"${text.trim()}" is not COLUMN=VALUE`);
    if (isSecretName(column))
      throw new ChoiceFault(`column "${column}" holds secrets`, 'choose rows by another column');
    values.set(column, [
      ...(values.get(column) ?? []),
      text
        .slice(at + 1)
        .trim()
        .toLowerCase(),
    ]);
  }
  return [...values].map(([column, of]) => ({ column, values: of }));
}

/** Reads `--columns`: names separated by commas, as they would be in a header row; `-` is a column that is not read. */
export function parseColumns(text: string): readonly string[] {
  const names = text.split(',').map(name => name.trim());
  return names.map(name => (name === '-' ? '' : name));
}

/** The columns that a person has chosen, by index. Throws `InvalidInput` if the file has no such column. */
export function resolvedChoices<Field extends string>(
  names: readonly string[],
  map: readonly ColumnChoice<Field>[],
  isDraft: boolean,
): { readonly index: number; readonly field: Field | `tag:${string}` | null }[] {
  const absent: string[] = [];
  const found = map.flatMap(({ field, column, otherwise }) => {
    const index = columnNamed(names, column);
    if (index >= 0) return [{ index, field }];
    const other = otherwise ? columnNamed(names, otherwise.column) : -1;
    if (other >= 0) return [{ index: other, field: otherwise!.field }];
    if (field !== null && !isDraft) absent.push(column);
    return [];
  });
  if (absent.length > 0) throw new InvalidInput({ what: 'columns absent', columns: absent, names });
  return found;
}
