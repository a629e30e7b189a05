/** Files of the home folder that have an entry for each profile and server. */
import { join } from 'node:path';
import { isObject } from '../../contract/json-object.ts';
import { withLock } from './file-lock.ts';
import { damaged, makeFolder, readJsonFile, writeJsonFile } from './files.ts';

/** Whose entries: those of one profile in one home folder. */
export interface Owner {
  readonly home: string;
  readonly profile: string;
}

type AllEntries<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** The entries of one such file. */
export class ServerEntries<T> {
  readonly #name: string;
  readonly #what: string;
  readonly #isEntry: (value: unknown) => value is T;

  /** `name` is that of the file, `what` an entry in words. */
  constructor(name: string, what: string, isEntry: (value: unknown) => value is T) {
    this.#name = name;
    this.#what = what;
    this.#isEntry = isEntry;
  }

  /** Throws a fault for an entry of another shape: one that is lost must not count as absent. */
  #readAll(home: string): AllEntries<T> {
    const file = join(home, this.#name);
    const all = readJsonFile(file) ?? {};
    const entries = Object.values(all).flatMap(profile => (isObject(profile) ? Object.values(profile) : [null]));
    if (!entries.every(this.#isEntry)) throw damaged(file, `it has an entry that is not ${this.#what}`);
    return all as AllEntries<T>;
  }

  /** Names of the profiles with an entry now or earlier. */
  profiles(home: string): readonly string[] {
    return Object.keys(this.#readAll(home));
  }

  /** Null if there is none. */
  read({ home, profile }: Owner, server: string): T | null {
    const all = this.#readAll(home);
    const own = Object.hasOwn(all, profile) ? all[profile]! : {};
    return Object.hasOwn(own, server) ? own[server]! : null;
  }

  /** Sets an entry, or removes it if it is null. Processes that do so at the same time wait for each other. */
  async store({ home, profile }: Owner, server: string, entry: T | null): Promise<void> {
    const file = join(home, this.#name);
    makeFolder(home);
    await withLock(`${file}.lock`, () => {
      const all = this.#readAll(home);
      const { [server]: _, ...others } = all[profile] ?? {};
      writeJsonFile(file, { ...all, [profile]: entry === null ? others : { ...others, [server]: entry } });
    });
  }
}
