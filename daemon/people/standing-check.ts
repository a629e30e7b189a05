/** The standing check: what persons who have left still have, and what a leave would not find. */
import type { Data } from '../../src/contract/routes.ts';
import { Service, type ServiceParts } from '../requests/context.ts';
import { settingsIn } from '../store/document.ts';
import { driftedPersons } from './drift-records.ts';
import { overdueErasures } from './erasure.ts';
import { overdueShipmentCount } from './shipments.ts';

interface CheckParts extends ServiceParts {
  readonly log: { warn(data: object, message: string): void };
}

/** Counts, and announces what has changed. */
export class StandingCheck extends Service<CheckParts> {
  /** The figures that were announced last, as text. Another daemon that takes the work announces them again. */
  #announced: string | null = null;

  async figures(): Promise<Data<'checkPeople'>> {
    const at = this.now();
    const [devices, accounts, tokens, credentials, unmatched, unreported, drift, unerased, cases, shipments] =
      await Promise.all([
        this.store.leaverDevices(),
        this.store.leaverAccounts(),
        this.store.leaverTokens(at),
        this.store.leaverCredentials(),
        this.store.unmatchedActive(),
        this.#unreported(at),
        driftedPersons(this.store),
        overdueErasures(this.store, at),
        this.store.leaverCaseCount(true),
        overdueShipmentCount(this.store, at),
      ]);
    return { devices, accounts, tokens, credentials, unmatched, unreported, drift, unerased, cases, shipments };
  }

  /** Writes an event if a figure beside those of cases and shipments, which have their own events, has changed. */
  async announce(): Promise<void> {
    const { cases, shipments: _, ...data } = await this.figures();
    const text = JSON.stringify(data);
    const isClean = Object.values(data).every(figure => figure === 0);
    if (!isClean)
      this.parts.log.warn({ ...data, cases }, 'people who have left still have something: devmgr doctor has the steps');
    const isNew = this.#announced === null ? !isClean : this.#announced !== text;
    this.#announced = text;
    if (!isNew) return;
    const entry = { type: 'PEOPLE_CHECKED', data } as const;
    const changes = [{ kind: 'journal.add', entry, device: null, subject: null } as const];
    await this.store.commit({ at: this.now(), actor: null, requestId: null, changes });
  }

  /** Active persons whose source can no longer report that they leave. */
  async #unreported(at: number): Promise<number> {
    const one = { active: true, descending: false, offset: 0, limit: 1 } as const;
    const [scim, directory, tokens, settings] = await Promise.all([
      this.store.people({ source: 'scim', ...one }),
      this.store.people({ source: 'directory', ...one }),
      this.store.scimTokens(at),
      this.store.document('directory'),
    ]);
    const hasDirectory = settingsIn<object | null>(settings, null).config !== null;
    return (tokens > 0 ? 0 : scim.total) + (hasDirectory ? 0 : directory.total);
  }
}
