/** Which column of a file is which field: chosen by a person, or recognized by name and first values. */
import { isTagName } from '../contract/tags.ts';
import { tagColumn } from '../contract/values.ts';
import { type ColumnChoice, resolvedChoices } from './choices.ts';
import { InvalidInput } from './fault.ts';
import { type FieldRule, type FieldSet, type Meaning, meaningsOf } from './fields.ts';
import { isLongKey, isSecretName, isSecretValue, shownName } from './secrets.ts';

/** A column of a file, or a property of the objects of one. */
export interface TableColumn<Field extends string = string> {
  readonly name: string;
  /** Null if it is not read. */
  readonly field: Field | null;
  /** A second field that is read from it: the login, if the file has addresses alone. */
  readonly also: Field | null;
  /** Name of the tag that it holds; null for any other column. */
  readonly tag: string | null;
  /** Its name is that of secrets: no value of it is read, shown or sent. */
  readonly isSecret: boolean;
  /** A person has chosen its field. */
  readonly isChosen: boolean;
  /** Its first value, cut; empty if it holds secrets. */
  readonly example: string;
}

/** The columns, and what is doubtful about them. */
interface Assigned<Field extends string> {
  readonly columns: readonly TableColumn<Field>[];
  readonly doubts: readonly { readonly column: string; readonly message: string }[];
}

interface Candidate<Field extends string> extends Meaning<Field> {
  readonly index: number;
}

/** Facts that are known when columns are assigned. */
interface Known<Field extends string> {
  readonly fields: FieldSet<Field>;
  readonly map: readonly ColumnChoice<Field>[];
  /** Rows are objects: a property may hold more than a text. */
  readonly hasObjects: boolean;
  /** A person completes the choices: of two columns for one field none is read. */
  readonly isDraft: boolean;
  /** The first values of a column, as texts. */
  readonly valuesOf: (index: number) => readonly string[];
}

/** Assigns fields to columns. Throws `InvalidInput` if two columns can be one field, or a chosen column is absent. */
export function assignColumns<Field extends string>(names: readonly string[], known: Known<Field>): Assigned<Field> {
  const { fields, map, isDraft } = known;
  // A name that is a key is a cell of a line that was taken for the header row.
  const secret = names.map(name => isSecretName(name) || isLongKey(name));
  const chosen = resolvedChoices(names, map, isDraft);
  const doubts: { column: string; message: string }[] = [];
  const owner = new Map<number, Field>();
  for (const { index, field } of chosen) if (field !== null && !isTag(field)) owner.set(index, field);
  const isFree = (index: number) => !secret[index] && !chosen.some(choice => choice.index === index);
  const taken = new Set(owner.values());
  for (const rule of fields) {
    if (taken.has(rule.field) || (rule.ofObjects && !known.hasObjects)) continue;
    const found = candidatesOf(names, known, rule, isFree).filter(({ index }) => !owner.has(index));
    if (rule.isEvery) {
      for (const { index } of found) owner.set(index, rule.field);
      continue;
    }
    const best = bestOf(rule.field, found, names, isDraft || known.hasObjects);
    const lowest = Math.min(...found.map(each => each.rank));
    // Objects of one file may have different names for a field.
    if (known.hasObjects) for (const { index, rank } of found) if (rank === lowest) owner.set(index, rule.field);
    if (best === null) continue;
    owner.set(best.index, rule.field);
    const others = found
      .filter(({ index, rank }) => index !== best.index && rank > 0)
      .map(({ index }) => names[index]!);
    if (others.length > 0)
      doubts.push({
        column: names[best.index]!,
        message: `${rule.field} is read from "${names[best.index]}", not from "${others.join('", "')}". If that is wrong: --map ${rule.field}=COLUMN`,
      });
  }
  const fieldsRead = new Set(owner.values());
  const standIns = fields.filter(({ field, instead }) => instead !== undefined && !fieldsRead.has(field));
  // A first line with a key is one of data: none of its neighbors is shown.
  const hasKeys = names.some(name => shownName(name) === '…');
  const columns = names.map((name, index): TableColumn<Field> => {
    const choice = chosen.find(each => each.index === index);
    const tag = choice ? tagOf(choice.field) : tagOfColumn(name);
    const field = owner.get(index) ?? null;
    const also = standIns.find(({ instead }) => instead === field)?.field ?? null;
    return {
      name: shownName(name),
      field,
      also,
      tag: field === null ? tag : null,
      isSecret: secret[index]!,
      isChosen: choice !== undefined,
      example: hasKeys ? '' : exampleOf(name, known.valuesOf(index)),
    };
  });
  checkTags(columns);
  return { columns, doubts };
}

function candidatesOf<Field extends string>(
  names: readonly string[],
  { fields, valuesOf }: Known<Field>,
  rule: FieldRule<Field>,
  isFree: (index: number) => boolean,
): Candidate<Field>[] {
  const fits = (index: number, isWeak: boolean) => {
    const judge = rule.fits;
    if (judge === undefined || !(isWeak || rule.isJudged)) return true;
    const values = valuesOf(index).filter(text => text.trim() !== '');
    return values.length === 0 || values.some(text => judge(text, names[index]!));
  };
  return names.flatMap((name, index) => {
    if (!isFree(index)) return [];
    const meaning = meaningsOf(fields, name).find(({ field }) => field === rule.field);
    return meaning !== undefined && fits(index, meaning.isWeak) ? [{ ...meaning, index }] : [];
  });
}

/** The column of the first tier. Throws `InvalidInput` if it has two. */
function bestOf<Field extends string>(
  field: Field,
  found: readonly Candidate<Field>[],
  names: readonly string[],
  isLenient: boolean,
): Candidate<Field> | null {
  const rank = Math.min(...found.map(each => each.rank));
  const best = found.filter(each => each.rank === rank);
  if (best.length > 1 && isLenient) return null;
  if (best.length > 1)
    throw new InvalidInput({
      what: 'column twice',
      column: field,
      columns: best.map(({ index }) => names[index]!.trim()),
    });
  return best[0] ?? null;
}

const longestExample = 60;

function exampleOf(name: string, values: readonly string[]): string {
  const value = values.find(text => text.trim() !== '') ?? '';
  return isSecretValue(name, value) || isLongKey(value) ? '' : value.slice(0, longestExample);
}

const isTag = (field: string): field is `tag:${string}` => field.startsWith(tagColumn);
const tagOf = (field: string | null): string | null =>
  field !== null && isTag(field) ? field.slice(tagColumn.length) : null;

/** The name of the tag that a column `tag:NAME` holds; null for any other column. Throws `InvalidInput` if it cannot be one. */
function tagOfColumn(cell: string): string | null {
  const column = cell.trim();
  if (column.slice(0, tagColumn.length).toLowerCase() !== tagColumn) return null;
  const name = column.slice(tagColumn.length).trim();
  if (isTagName(name)) return name;
  throw new InvalidInput({ what: 'tag name', column: column.slice(0, 60) });
}

function checkTags(columns: readonly TableColumn[]): void {
  const names = columns.flatMap(({ tag }) => tag ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidInput({ what: 'column twice', column: tagColumn + twice, columns: [] });
}
