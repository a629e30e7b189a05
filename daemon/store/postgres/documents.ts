/** Documents that a group of commits reads and replaces. */
import type { DocumentName, DocumentRecord, DocumentSet } from '../../domain/document.ts';
import { Conflict } from '../commit.ts';
import type { Readers } from './readers.ts';

/** The versions of documents. */
export const documentVersions = 'SELECT name, version FROM document WHERE name = ANY($1::text[])';

/** Null if the document does not exist. */
export async function readDocument(readers: Readers, name: DocumentName): Promise<DocumentRecord | null> {
  const { rows } = await readers.run('SELECT name, version, value FROM document WHERE name = $1', [name]);
  return (rows[0] as unknown as DocumentRecord | undefined) ?? null;
}

/** 0 if the document does not exist. */
export async function readDocumentVersion(readers: Readers, name: DocumentName): Promise<number> {
  const { rows } = await readers.run('SELECT version FROM document WHERE name = $1', [name]);
  return (rows[0]?.version as number | undefined) ?? 0;
}

const replace = `INSERT INTO document (name, version, value) SELECT * FROM unnest($1::text[], $2::int8[], $3::text[])
  ON CONFLICT (name) DO UPDATE SET version = excluded.version, value = excluded.value`;

export class Documents {
  readonly #versions = new Map<string, number>();
  readonly #changed = new Map<string, DocumentRecord>();

  load(rows: readonly Pick<DocumentRecord, 'name' | 'version'>[]): void {
    for (const { name, version } of rows) this.#versions.set(name, version);
  }

  /** Throws `Conflict` if the document has another version; 0: it does not exist. */
  check(name: DocumentName, version: number): void {
    if ((this.#versions.get(name) ?? 0) !== version) throw new Conflict(`the document ${name} has another version now`);
  }

  set({ name, before, value }: DocumentSet): void {
    this.#versions.set(name, before + 1);
    this.#changed.set(name, { name, version: before + 1, value });
  }

  get isEmpty(): boolean {
    return this.#changed.size === 0;
  }

  /** The statements that write them. */
  *writes(): Generator<readonly [sql: string, values: unknown[]]> {
    const all = [...this.#changed.values()];
    if (all.length > 0)
      yield [replace, [all.map(({ name }) => name), all.map(({ version }) => version), all.map(({ value }) => value)]];
  }
}
