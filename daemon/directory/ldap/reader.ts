/** Reads the persons of a directory, page by page (RFC 2696). References to other servers are not followed. */
import {
  AndFilter,
  type BerWriter,
  Client,
  Control,
  type Entry,
  EqualityFilter,
  type Filter,
  FilterParser,
  OrFilter,
  PagedResultsControl,
  ResultCodeError,
} from 'ldapts';
import { directoryBounds } from '../../../src/contract/limits.ts';
import type { DirectoryConfig } from '../decisions.ts';
import { DirectoryFailure, GIVEN_UP, type LdapStream, openDirectory } from './connection.ts';
import { failureOf } from './failures.ts';
import { PAGED } from './messages.ts';
import { withNested } from './nested-groups.ts';
import {
  comparable,
  type DirectoryGroup,
  type DirectoryPage,
  type EntryFields,
  fieldsOf,
  pageOf,
  timestampOf,
} from './person-entry.ts';

/** Entries of a page; milliseconds for one request, and for a run. */
const bounds = { page: 250, requestMs: 30_000, runMs: 10 * 60_000 } as const;
/** Modification times are those of several servers, and have seconds: so much earlier is read again. */
const OVERLAP_MS = 5 * 60_000;
const ACTIVE_DIRECTORY = '1.2.840.113556.1.4.800';
const GROUP_CLASSES = ['group', 'groupOfNames', 'groupOfUniqueNames', 'groupOfMembers', 'posixGroup'];
/** Results that mean that there are no groups inside a group: no such object or attribute, another kind of attribute, no access. */
const NO_GROUPS: ReadonlySet<number> = new Set([16, 17, 18, 32, 50]);
const DEFAULT_FILTERS = {
  active: '(&(objectCategory=person)(objectClass=user))',
  other: '(objectClass=inetOrgPerson)',
} as const;

/** Until where a directory was read. A number (uSNChanged) is that of one server. */
export type DirectoryPosition =
  | { readonly kind: 'number'; readonly server: string; readonly value: number }
  | { readonly kind: 'time'; readonly value: string };

/** Description that a server gives of itself. */
interface DirectoryServer {
  readonly isActiveDirectory: boolean;
  readonly hasPages: boolean;
  /** The names (DN) at which its trees begin. */
  readonly roots: readonly string[];
  /** The number of its last change, if it counts them. */
  readonly position: DirectoryPosition | null;
}

/**
 * The control with the position in paged results, as the library writes it. The library does not take its own, and stops at an
 * empty page, which Active Directory sends in between.
 */
class PageControl extends Control {
  readonly #cookie: Buffer;
  constructor(cookie: Buffer) {
    super(PAGED, { critical: true });
    this.#cookie = cookie;
  }
  override writeControl(writer: BerWriter): void {
    new PagedResultsControl({ value: { size: bounds.page, cookie: this.#cookie } }).writeControl(writer);
  }
}

/** Why a filter is not one, in words that follow "filter"; null if it is. */
export function filterProblem(filter: string): string | null {
  if (!filter.startsWith('(')) return 'must begin with (';
  try {
    FilterParser.parseString(filter);
    return null;
  } catch {
    return 'is not a filter (RFC 4515)';
  }
}

/** A signed-in connection. */
export class DirectoryReader {
  readonly #config: DirectoryConfig;
  readonly #client: Client;
  readonly #stream: LdapStream;
  readonly server: DirectoryServer;
  readonly fields: EntryFields;

  private constructor(config: DirectoryConfig, client: Client, stream: LdapStream, server: DirectoryServer) {
    this.#config = config;
    this.#client = client;
    this.#stream = stream;
    this.server = server;
    this.fields = fieldsOf(config.attributes, server.isActiveDirectory);
  }

  /** Connects, signs in, runs `use` and closes. Rejects with a `DirectoryFailure` if the directory causes a failure, also in `use`. */
  static async with<T>(
    config: DirectoryConfig,
    password: string | null,
    signal: AbortSignal,
    use: (reader: DirectoryReader) => Promise<T>,
  ): Promise<T> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(bounds.runMs)]);
    const stream = await openDirectory(config, until);
    const stop = () => stream.fail(GIVEN_UP);
    until.addEventListener('abort', stop);
    try {
      const client = clientOn(config.url, stream);
      if (config.bindDn !== null) await client.bind(config.bindDn, password ?? '');
      return await use(new DirectoryReader(config, client, stream, await serverOf(client, stream)));
    } catch (error) {
      throw stream.failure ?? failureOf(error);
    } finally {
      until.removeEventListener('abort', stop);
      stream.destroy();
    }
  }

  /** The filter of persons. */
  get filter(): string {
    return this.#config.filter ?? DEFAULT_FILTERS[this.server.isActiveDirectory ? 'active' : 'other'];
  }

  /** Every entry, or those changed after a position of this server. A position of another server counts as none: see `canContinue`. */
  async *read(after: DirectoryPosition | null): AsyncGenerator<DirectoryPage> {
    let read = 0;
    const groups = await this.#groups();
    for await (const entries of this.#pages(this.#filterAfter(after))) {
      read += entries.length;
      if (read > directoryBounds.entries)
        throw new DirectoryFailure(
          `has more than ${directoryBounds.entries} entries that match: choose base or filter`,
        );
      yield pageOf(entries, this.fields, groups);
    }
  }

  /** The groups of the settings and those inside them, with the numbers by which persons name their primary group. */
  async #groups(): Promise<DirectoryGroup[]> {
    const attribute = this.#groupNumber;
    const groups: DirectoryGroup[] = [];
    for (const group of this.#config.groups) {
      this.#stream.expect(1);
      const options = { attributes: [attribute], timeLimit: 30 };
      const found = await this.#client.search(group.dn, { ...options, scope: 'base' }).catch(error => {
        // A group that cannot be read has the members that name it.
        if (error instanceof ResultCodeError) return null;
        throw error;
      });
      groups.push({ ...group, ...numberIn(found?.searchEntries[0], attribute) });
    }
    return withNested(groups, dn => this.#groupsInside(dn));
  }

  get #groupNumber(): string {
    return this.server.isActiveDirectory ? 'primaryGroupToken' : 'gidNumber';
  }

  /** The groups that are direct members of a group, wherever they are in its tree. */
  async #groupsInside(dn: string) {
    const ends = this.server.roots.filter(root => comparable(dn).endsWith(comparable(root)));
    const base = ends.sort((a, b) => b.length - a.length)[0] ?? this.#config.base;
    const classes = GROUP_CLASSES.map(value => new EqualityFilter({ attribute: 'objectClass', value }));
    const inside = new EqualityFilter({ attribute: this.fields.groups, value: dn });
    const filter = new AndFilter({ filters: [inside, new OrFilter({ filters: classes })] });
    const found: Pick<DirectoryGroup, 'dn' | 'number'>[] = [];
    try {
      for await (const entries of this.#pages(filter, { base, attributes: [this.#groupNumber] }))
        found.push(...entries.map(entry => ({ dn: entry.dn, ...numberIn(entry, this.#groupNumber) })));
    } catch (error) {
      if (!(error instanceof ResultCodeError && NO_GROUPS.has(error.code))) throw error;
    }
    return found;
  }

  /** The first page. */
  async sample(): Promise<DirectoryPage> {
    for await (const entries of this.#pages(this.filter)) return pageOf(entries, this.fields, this.#config.groups);
    return pageOf([], this.fields, []);
  }

  /** Whether only changes after a position can be read. */
  canContinue(after: DirectoryPosition | null): after is DirectoryPosition {
    const { position } = this.server;
    if (after?.kind !== 'number') return after !== null && position === null;
    return position?.kind === 'number' && position.server === after.server && position.value >= after.value;
  }

  #filterAfter(after: DirectoryPosition | null): string {
    if (after === null) return this.filter;
    const changed =
      after.kind === 'number'
        ? `(uSNChanged>=${after.value + 1})`
        : `(modifyTimestamp>=${timestampOf(after.value, OVERLAP_MS)})`;
    return `(&${this.filter}${changed})`;
  }

  async *#pages(
    filter: string | Filter,
    { base, attributes } = { base: this.#config.base, attributes: this.fields.wanted },
  ): AsyncGenerator<readonly Entry[]> {
    for (let cookie = Buffer.alloc(0); ; ) {
      this.#stream.expect(bounds.page);
      const { searchEntries } = await this.#client.search(
        base,
        { scope: 'sub', filter, attributes: [...attributes], explicitBufferAttributes: ['objectGUID'], timeLimit: 30 },
        new PageControl(cookie),
      );
      const next = this.#stream.cookie;
      if (next === null) throw new DirectoryFailure('does not return pages');
      yield searchEntries;
      if (next.length === 0) return;
      cookie = Buffer.from(next);
    }
  }
}

/** The number by which persons name the group as their primary group, if the entry shows it. */
function numberIn(entry: Entry | undefined, attribute: string): Pick<DirectoryGroup, 'number'> {
  const [number] = [entry?.[attribute] ?? []].flat();
  return typeof number === 'string' ? { number } : {};
}

/** The library would connect again; here a connection is used once. */
function clientOn(url: string, stream: LdapStream): Client {
  let isUsed = false;
  const factory = () => {
    if (isUsed) throw new DirectoryFailure('closed the connection');
    isUsed = true;
    return stream;
  };
  const made = factory as unknown as NonNullable<ConstructorParameters<typeof Client>[0]['createConnection']>;
  return new Client({
    url,
    timeout: bounds.requestMs,
    createConnection: made,
    createSecureConnection: made as never,
  });
}

async function serverOf(client: Client, stream: LdapStream): Promise<DirectoryServer> {
  stream.expect(1);
  const attributes = [
    'supportedControl',
    'supportedCapabilities',
    'highestCommittedUSN',
    'dsServiceName',
    'namingContexts',
  ];
  const { searchEntries } = await client.search('', { scope: 'base', attributes, timeLimit: 30 });
  const of = (name: string) => [searchEntries[0]?.[name] ?? []].flat().map(String);
  const [usn = ''] = of('highestCommittedUSN');
  const [server] = of('dsServiceName');
  const counts = /^\d{1,15}$/.test(usn) && server !== undefined;
  return {
    isActiveDirectory: of('supportedCapabilities').includes(ACTIVE_DIRECTORY),
    roots: of('namingContexts'),
    hasPages: of('supportedControl').includes(PAGED),
    position: counts ? { kind: 'number', server, value: Number(usn) } : null,
  };
}
