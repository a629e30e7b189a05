/** A dry run of the directory: what a run would find after its own commits. Changes nothing. */
import { personKey } from '../../src/contract/person-key.ts';
import { isGiven, keepsName } from '../accounts/user.ts';
import { heldName, holderOf, leave } from '../people/decisions.ts';
import { type BrakeCounts, withCount } from '../people/leaver-brake.ts';
import { nameTakenBy } from '../people/lookups.ts';
import type { PersonLeave, PersonRecord, PersonSet, PersonUpdate } from '../people/records.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { ServiceParts } from '../requests/context.ts';
import { type Change, type ChangeResult, Conflict } from '../store/commit.ts';
import type { Store } from '../store/store.ts';

/** Part of the registry that a run reads. */
export type RunStore = Pick<
  Store,
  'person' | 'personByName' | 'peopleNamed' | 'usersNamed' | 'isUnmatched' | 'document'
>;

/** A store that keeps its commits to itself. It does not know who else has left within the last minutes. */
/** Accounts that a new user name of their person ends: see `rename` in daemon/people/rules.ts. */
const endsWithName = (account: UserRecord): boolean => keepsName(account) && !isGiven(account);

export class TrialStore implements RunStore {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #persons = new Map<number, PersonRecord>();
  /** Persons that were added. */
  readonly #added: PersonRecord[] = [];
  readonly #disabled = new Set<number>();
  #counts: BrakeCounts = { devices: [], accounts: [], names: [] };
  #locked = 0;

  constructor({ store, now }: ServiceParts) {
    this.#store = store;
    this.#now = now;
  }

  async person(number: number) {
    return this.#persons.get(number) ?? this.#store.person(number);
  }

  async personByName(userName: string) {
    return holderOf(await this.peopleNamed(userName)) ?? null;
  }

  async peopleNamed(userName: string) {
    const key = personKey(userName);
    const stored = (await this.#store.peopleNamed(userName)).filter(({ number }) => !this.#persons.has(number));
    return [...stored, ...this.#persons.values(), ...this.#added].filter(({ userKey }) => userKey === key);
  }

  async usersNamed(userName: string) {
    const accounts = await this.#store.usersNamed(userName);
    return accounts.map(account => ({ ...account, disabled: account.disabled || this.#disabled.has(account.number) }));
  }

  isUnmatched(userId: string) {
    return this.#store.isUnmatched(userId);
  }

  document(name: Parameters<Store['document']>[0]) {
    return this.#store.document(name);
  }

  /** The results of the changes of persons; those of other changes are `done`. A new person has the number 0. */
  async commit(changes: readonly Change[]): Promise<readonly ChangeResult[]> {
    const results: ChangeResult[] = [];
    for (const change of changes) results.push(await this.#apply(change));
    return results;
  }

  async #apply(change: Change): Promise<ChangeResult> {
    if (change.kind === 'person.leave') return this.#leave(change);
    if (change.kind === 'person.add') {
      const named = await this.peopleNamed(change.person.userName);
      const existing = named.find(({ removedAt }) => removedAt === null);
      if (existing) return { kind: 'duplicate', number: existing.number, status: null };
      const record = { ...change.person, number: 0, createdAt: 0, updatedAt: 0, search: '' };
      this.#added.push(record);
      return { kind: 'added', number: 0 };
    }
    if (change.kind === 'person.set') {
      const person = (await this.person(change.person))!;
      const { from, to } = change.renamed ?? {};
      if (to !== undefined && (await nameTakenBy(this, person, to)) !== null)
        throw new Conflict('the user name is taken');
      const held = await this.#hold(person, change);
      this.#set(person, held?.set ?? change.set);
      if (held) return { kind: 'held' };
      if (from !== undefined && to !== undefined && personKey(from) !== personKey(to))
        await this.#disable(from, endsWithName);
    }
    return { kind: 'done' };
  }

  async #leave(change: PersonLeave): Promise<ChangeResult> {
    const { userName, person: number } = change;
    const person = (await this.person(number))!;
    const { devices, accounts } = await this.#affected(person);
    const state = { person, devices, accounts: accounts.length, recent: this.#counts, now: this.#now() };
    const outcome = leave({ ...change, activeDevices: change.activeDevices - this.#locked }, state);
    const { result, set = {} } = outcome ?? {};
    this.#set(person, set);
    if (result === 'locked') {
      this.#locked += devices;
      await this.#disable(userName);
    }
    if (result !== 'due') {
      this.#count('devices', devices, result === 'held');
      this.#count('accounts', accounts.length, result === 'held');
    }
    return { kind: 'left', locked: [], held: result === 'held' ? [0] : [], dueAt: null };
  }

  async #affected({ number, userName }: PersonRecord) {
    const devices = (await this.#store.devicesOf(number)).filter(({ status }) => status === 'ACTIVE').length;
    return { devices, accounts: (await this.usersNamed(userName)).filter(({ disabled }) => !disabled) };
  }

  async #hold(person: PersonRecord, change: PersonUpdate) {
    const { renamed, brake } = change;
    if (!renamed || !brake || personKey(renamed.from) === personKey(renamed.to)) return null;
    const { devices, accounts } = await this.#affected(person);
    const affected = devices + accounts.filter(endsWithName).length;
    const held = heldName(person, change, { devices, affected, recent: this.#counts.names, now: this.#now() });
    this.#count('names', affected, held !== null);
    return held;
  }

  #count(what: keyof BrakeCounts, more: number, isHeld: boolean): void {
    if (more > 0) this.#counts = { ...this.#counts, [what]: withCount(this.#counts[what], this.#now(), more, isHeld) };
  }

  #set(person: PersonRecord, set: PersonSet): void {
    const after = { ...person, ...set };
    this.#persons.set(person.number, { ...after, userKey: personKey(after.userName) });
  }

  /** Disables the accounts with this name, unless one is that of the last ADMIN. `which`: only those. */
  async #disable(userName: string, which: (account: UserRecord) => boolean = () => true): Promise<void> {
    for (const account of (await this.usersNamed(userName)).filter(which)) {
      const admins = (await this.#store.admins()).filter(({ number }) => !this.#disabled.has(number));
      if (admins.length > 1 || admins[0]?.number !== account.number) this.#disabled.add(account.number);
    }
  }
}
