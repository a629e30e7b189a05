/** The content of a report, and its persons. */

import type { FleetFigures } from '../../../fleet/figures.ts';
import type { ExportedDevice } from '../../framework/devices/export-stream.ts';
import type { Attempts } from './attempts.ts';
import type { Changes } from './changes.ts';

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

/** Persons with devices. */
interface Persons {
  /** In the order of user names. */
  readonly byPerson: readonly PersonCount[];
  /** Devices of persons that are not in `byPerson`. */
  readonly otherPersons: number;
}

interface PersonCount {
  readonly userId: string;
  /** Null without one in the registry. */
  readonly name: string | null;
  readonly count: number;
}

/** Persons that are counted one by one; devices of others are counted together. */
const mostPersons = 10_000;

/** Counts the devices of each person. */
export class PersonCounts {
  readonly #persons = new Map<string, PersonCount>();
  #others = 0;

  take({ userId, name = null }: ExportedDevice): void {
    if (!userId) return;
    const known = this.#persons.get(userId);
    if (known === undefined && this.#persons.size === mostPersons) this.#others++;
    else this.#persons.set(userId, { userId, name, count: (known?.count ?? 0) + 1 });
  }

  get figures(): Persons {
    const byPerson = [...this.#persons.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1));
    return { byPerson, otherPersons: this.#others };
  }
}
