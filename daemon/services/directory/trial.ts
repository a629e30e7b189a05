/** A dry run of the directory: what a run would find after its own commits. Changes nothing. */
import { type LeaverCounts, withCount } from '../../domain/leaver-brake.ts';
import { leave, type PersonLeave, type PersonRecord, type PersonSet, personKey } from '../../domain/person.ts';
import { keepsName } from '../../domain/sso.ts';
import { type Change, type ChangeResult, Conflict } from '../../store/commit.ts';
import type { Store } from '../../store/store.ts';
import { deviceTotal } from '../people/leavers.ts';
import { isNameTaken } from '../reads.ts';

/** What a run reads of the registry. */
export type RunStore = Pick<Store, 'person' | 'personByName' | 'userByName' | 'document'>;

/** A store that keeps its commits to itself. It does not know who else has left within the last minutes. */
export class TrialStore implements RunStore {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #persons = new Map<number, PersonRecord>();
  /** By `personKey`; null if a person has given up the name. */
  readonly #names = new Map<string, PersonRecord | null>();
  readonly #disabled = new Set<string>();
  #counts: LeaverCounts = [];
  #locked = 0;

  constructor({ store, now }: { readonly store: Store; readonly now: () => number }) {
    this.#store = store;
    this.#now = now;
  }

  async person(number: number) {
    return this.#persons.get(number) ?? this.#store.person(number);
  }

  async personByName(userName: string) {
    const found = this.#names.get(personKey(userName));
    return found === undefined ? this.#store.personByName(userName) : found;
  }

  async userByName(username: string) {
    const account = await this.#store.userByName(username);
    return account && { ...account, disabled: account.disabled || this.#disabled.has(username) };
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
      const existing = await this.personByName(change.person.userName);
      if (existing) return { kind: 'duplicate', number: existing.number, status: null };
      const record = { ...change.person, number: 0, createdAt: 0, updatedAt: 0, search: '' };
      this.#names.set(record.userKey, record);
      return { kind: 'added', number: 0 };
    }
    if (change.kind === 'person.set') {
      const person = (await this.person(change.person))!;
      const { from, to } = change.renamed ?? {};
      if (to !== undefined && (await isNameTaken(this, person, to))) throw new Conflict('the user name is taken');
      this.#set(person, change.set);
      if (from !== undefined && keepsName(await this.userByName(from))) await this.#disable(from);
    }
    return { kind: 'done' };
  }

  async #leave(change: PersonLeave): Promise<ChangeResult> {
    const { userName, activeDevices, person: number } = change;
    const person = (await this.person(number))!;
    const devices = await deviceTotal(this.#store, { userId: userName, status: ['ACTIVE'] });
    const hasAccount = (await this.#store.userByName(userName))?.disabled === false;
    const state = { person, devices, hasAccount, recent: this.#counts, now: this.#now() };
    const outcome = leave({ ...change, activeDevices: activeDevices - this.#locked }, state);
    const { result, set = {} } = outcome ?? {};
    this.#set(person, set);
    if (result === 'locked') {
      this.#locked += devices;
      await this.#disable(userName);
    }
    if (result !== 'due') this.#counts = withCount(this.#counts, this.#now(), devices, result === 'held');
    return { kind: 'left', locked: [], held: result === 'held' ? [0] : [], dueAt: null };
  }

  #set(person: PersonRecord, set: PersonSet): void {
    const after = { ...person, ...set };
    const record = { ...after, userKey: personKey(after.userName) };
    this.#persons.set(person.number, record);
    if (record.userKey !== person.userKey) this.#names.set(person.userKey, null);
    this.#names.set(record.userKey, record);
  }

  /** Disables the account with this name, unless it is that of the last ADMIN. */
  async #disable(username: string): Promise<void> {
    const account = await this.userByName(username);
    if (!account || account.disabled) return;
    const admins = (await this.#store.admins()).filter(admin => !this.#disabled.has(admin.username));
    if (admins.length > 1 || admins[0]?.username !== username) this.#disabled.add(username);
  }
}
