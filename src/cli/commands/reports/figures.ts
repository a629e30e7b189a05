/** The content of a report. */
import type { FleetFigures } from '../../../fleet/figures.ts';
import type { Attempts } from './attempts.ts';
import type { Changes } from './changes.ts';
import type { Persons } from './persons.ts';

/** The content of a report; what `--json` writes. Persons only with `--names`. */
export interface Figures extends FleetFigures, Partial<Persons> {
  /** When the report was made; ISO 8601 UTC. */
  readonly generatedAt: string;
  /** The filters, as the query of an export. */
  readonly criteria: Readonly<Record<string, string | readonly string[]>>;
  /** Devices that are INACTIVE, and those of them whose code has expired. */
  readonly codes: { readonly unused: number; readonly expired: number };
  /** Null if the server has no events of the past. */
  readonly changes: Changes | null;
  /** Null without results of an enrollment. */
  readonly attempts: Attempts | null;
}
