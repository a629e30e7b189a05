import type { DatabaseAddress } from '../database.ts';
import { type Imprint, metaNames } from '../imprint.ts';
import { addressFrom } from './address.ts';
import { lockSpace } from './daemon-lock.ts';
import { toOpenFailure } from './failure.ts';
import { type HeadRow, storedHead } from './head.ts';
import { loginFrom } from './login.ts';
import { beforeOpening, checkServer, versionOf } from './migrate.ts';
import { migrations } from './migrations.ts';
import { DatabaseSession } from './session.ts';

const CREATION_LOCK = 3;
/** Milliseconds that a node waits for another one that creates the registry. */
const CREATION_MS = 60_000;

/** Waits until no other node creates a registry in the database. Resolves with the function that lets others continue. */
export async function lockCreation(options: DatabaseAddress): Promise<() => Promise<void>> {
  const login = loginFrom(options);
  let session: DatabaseSession | undefined;
  try {
    session = await DatabaseSession.open(login, { idleInTransactionMs: 60_000, lockMs: CREATION_MS });
    await session.runOnce('SELECT pg_advisory_lock($1, $2)', [lockSpace, CREATION_LOCK]);
    const held = session;
    return () => held.close();
  } catch (error) {
    await session?.close();
    throw toOpenFailure(error, login.address.text);
  }
}

/** The database in messages, without a password. Throws `StoreMisconfigured`. */
export const databaseName = ({ url, env }: DatabaseAddress): string => addressFrom(url, env).text;

/** Null if the database is empty. Rejects like `openPostgresStore`; changes nothing. */
export async function readImprint(options: DatabaseAddress): Promise<Imprint | null> {
  const login = loginFrom(options);
  const { address } = login;
  return beforeOpening(login, async session => {
    await checkServer(session, address);
    if ((await versionOf(session, address, migrations.length)) === 0) return null;
    const { rows } = await session.runOnce('SELECT * FROM head');
    const meta = await metaOf(session);
    return {
      name: address.text,
      head: storedHead(rows[0] as unknown as HeadRow),
      instance: meta.get(metaNames.instance) ?? null,
      copying: meta.get(metaNames.copying) ?? null,
    };
  });
}

/** Empty in a database of an earlier version. */
async function metaOf(session: DatabaseSession): Promise<ReadonlyMap<string, string>> {
  const { rows: found } = await session.runOnce(`SELECT to_regclass('meta') IS NOT NULL AS found`);
  if (found[0]!.found !== true) return new Map();
  const { rows } = await session.runOnce('SELECT name, value FROM meta');
  return new Map(rows.map(({ name, value }) => [name as string, value as string]));
}

/** Stores the instance, unless one is stored. */
export async function recordInstance(session: DatabaseSession, instance: string): Promise<void> {
  await session.runOnce('INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    metaNames.instance,
    instance,
  ]);
}
