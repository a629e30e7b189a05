/** Engines that keep a registry, or its files, outside of the home. A daemon loads the one that it uses; each is left out with its line. */
import { StartRefused } from '../base/start-refused.ts';
import type { ObjectStore } from '../files/object-store.ts';
import type { DatabaseEngine } from '../store/database.ts';

interface Row<E> {
  readonly scheme: string;
  readonly load: () => Promise<E>;
}

// biome-ignore format: an engine is left out with its line
export const databases: readonly Row<DatabaseEngine>[] = [
  { scheme: 'postgres', load: async () => (await import('../store/postgres/index.ts')).postgres },
];

// biome-ignore format: an object store is left out with its line
export const objectStores: readonly Row<ObjectStore>[] = [
  { scheme: 's3', load: async () => (await import('../files/s3/index.ts')).s3 },
];

/** Loads the engine for a URL. */
export async function engineFor<E>(url: string, rows: readonly Row<E>[]): Promise<E> {
  const row = rows.find(({ scheme }) => url.startsWith(scheme));
  if (row) return row.load();
  throw new StartRefused(2, `this program has no engine for ${url.split(':', 1)[0]}:`, 'use one that has it');
}
