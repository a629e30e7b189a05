/** The filters of the journal as data, of which each engine makes its SQL. */
import type { EventFilter } from '../queries.ts';

/** The columns of an entry. */
export const eventColumns = 'id, at, type, device, subject, actor, request_id, data, detail';

/** A filter that compares a column. */
export interface ColumnFilter {
  readonly column: string;
  readonly is: 'one of' | '=' | '<' | '<=' | '>=';
}

/** The filters of the journal but those of ids. */
export const eventFilters = [
  { name: 'types', column: 'type', is: 'one of' },
  { name: 'device', column: 'device', is: '=' },
  { name: 'actor', column: 'actor', is: '=' },
  { name: 'requestId', column: 'request_id', is: '=' },
  { name: 'from', column: 'at', is: '>=' },
  { name: 'to', column: 'at', is: '<=' },
] as const satisfies readonly (ColumnFilter & { readonly name: keyof EventFilter })[];
