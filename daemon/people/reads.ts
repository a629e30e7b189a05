/** Fields by which lists of persons select, once for all engines. */
import type { PersonFilter } from './queries.ts';

/** A condition: SQL with a `?` for each value. */
interface PersonTerm {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Syntax that differs between the engines. */
interface PersonDialect {
  /** The column contains the value. */
  readonly contains: (keyword: string) => PersonTerm;
  /** The column contains the value before an empty line. */
  readonly containsAbove: (keyword: string) => PersonTerm;
  /** `after`: see `PersonFilter`. */
  readonly inGroup: (group: number, after?: number) => PersonTerm;
}

const activeCount = "SELECT count(*) FROM device WHERE device.person = person.number AND device.status = 'ACTIVE'";

/** The conditions of a filter; all must hold. */
export function personTerms(
  {
    keyword,
    withEmail = true,
    userKeys,
    numbers,
    source,
    active,
    group,
    externalId,
    activeDevices,
    isHeld,
    dueBy,
    isPresent,
    after,
  }: PersonFilter,
  dialect: PersonDialect,
): PersonTerm[] {
  const terms: PersonTerm[] = [];
  const add = (sql: string, ...values: unknown[]) => terms.push({ sql, values });
  const wanted = keyword?.toLowerCase();
  if (wanted !== undefined) terms.push(dialect.contains(wanted));
  if (wanted !== undefined && !withEmail) terms.push(dialect.containsAbove(wanted));
  if (userKeys !== undefined) add(`user_key IN (${userKeys.map(() => '?').join(', ')})`, ...userKeys);
  if (numbers !== undefined) add(`number IN (${numbers.map(() => '?').join(', ')})`, ...numbers);
  if (source !== undefined) add('source = ?', source);
  if (active !== undefined) add(`active = ${active}`);
  if (group !== undefined) terms.push(dialect.inGroup(group, after));
  if (externalId !== undefined) add('external_id = ?', externalId);
  if (activeDevices !== undefined) add(`(${activeCount}) = ?`, activeDevices);
  if (isHeld) add('held_at IS NOT NULL');
  if (dueBy !== undefined) add('due_at <= ?', dueBy);
  if (isPresent) add('removed_at IS NULL');
  if (after !== undefined) add('number > ?', after);
  return terms;
}
