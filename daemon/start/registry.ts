/** The stored part of a daemon, and what every step of a start shares. */
import type { FastifyInstance } from 'fastify';
import { ensureFirstAdmin, firstPassword } from '../accounts/first-admin.ts';
import { enterSigningKey, signingKeys } from '../accounts/signing-keys.ts';
import type { Tokens } from '../accounts/tokens.ts';
import type { Logger } from '../base/logger.ts';
import type { ShutdownStack } from '../base/shutdown.ts';
import { keepEarlierBlobs } from '../files/blob-folder.ts';
import type { AttachedKeys } from '../hardware/attached-keys.ts';
import { checkUnused } from '../home/belonging.ts';
import { HeadKeeper } from '../home/head-keeper.ts';
import type { Home } from '../home/home.ts';
import { journalKeys } from '../home/journal-keys.ts';
import { rotateJournalKey } from '../home/rotate-journal-key.ts';
import type { DaemonSettings } from '../home/settings.ts';
import type { StoreTarget } from '../home/store-target.ts';
import type { Hub } from '../notifications/hub.ts';
import { AccessJournal } from '../requests/access-journal.ts';
import type { Blobs } from '../requests/blobs.ts';
import type { Readiness } from '../requests/readiness.ts';
import type { Store } from '../store/store.ts';
import { keepSwept, openBlobs, watchOthers } from './file-store.ts';

/** Wall clock in milliseconds since 1970. */
export const now = (): number => Date.now();

/** Dependencies of every step of a start. */
export interface Start {
  readonly settings: DaemonSettings;
  readonly version: string;
  readonly log: Logger;
  readonly stack: ShutdownStack;
  readonly home: Home;
  /**
   * Takes the lock for creating the registry; waits if another node holds it. Resolves with the function that releases it; null
   * if the registry exists.
   */
  readonly lockIfNew: (target: StoreTarget | null) => Promise<(() => Promise<void>) | null>;
  /** Opens the store of a home; `notice` receives lines for the log. */
  readonly openStore: (target: StoreTarget | null, home: Home, notice: (message: string) => void) => Promise<Store>;
}

/** A daemon of any role, before it listens. */
export interface AssembledDaemon {
  readonly app: FastifyInstance;
  readonly hub: Hub;
  readonly keys: AttachedKeys;
  readonly logins: Tokens;
  readonly readiness: Readiness;
  /** The first administrator's password if this start has generated it, else null. */
  readonly firstAdmin: Promise<string | null>;
  /** Reads keys that were replaced while the daemon runs. Only with `takeNext` the waiting key of the journal replaces the current one. */
  readonly renewKeys: (takeNext: boolean) => Promise<void>;
}

/** Reads the signing keys again. If the key was replaced, the journal records this. */
export async function useSigningKeys(home: Home, store: Store, tokens: Tokens): Promise<void> {
  const keys = await signingKeys(home, now());
  if (!tokens.useKeys(keys)) return;
  await enterSigningKey(home, store, keys, now());
}

/**
 * The stored part of a registry. `access` writes the journal entries of logins, refusals and downloads. `firstAdmin` resolves
 * with the generated password, or null.
 */
export interface Registry {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly access: AccessJournal;
  /** Lets the journal continue with the key of the home; see `rotateJournalKey`. */
  readonly rotateJournal: (takeNext: boolean) => Promise<void>;
  readonly firstAdmin: Promise<string | null>;
}

/** Opens the store, the journal's keys and heads, and the stored files; creates the first administrator. */
export async function openRegistry(start: Start): Promise<Registry> {
  const release = await start.lockIfNew(start.settings.store);
  if (release === null) return open(start);
  try {
    const registry = await open(start);
    // Another node that starts at the same time must find this administrator.
    await registry.firstAdmin;
    return registry;
  } finally {
    await release();
  }
}

async function open({ settings, log, stack, home, openStore }: Start): Promise<Registry> {
  // Another thread computes the hash while the rest starts: a first start takes 300 ms instead of 450 (measured).
  const target = settings.store;
  const isNew = target === null && !(await home.has('database'));
  // Before anything is written for a new registry.
  if (isNew) await checkUnused(home, home.path('database'));
  const hashing = isNew ? firstPassword(home, settings) : null;
  hashing?.catch(() => {});
  // A home prepared for a restore, or one that has lost its database: the new registry would remove all files as strays.
  if (isNew && (await keepEarlierBlobs(home.path('blobs'))))
    log.warn(
      'the files of an earlier registry were moved to a folder beside it; "devmgr daemon restore" brings back those it needs',
    );
  const notice = (message: string) => log.info(message);
  const store = await openStore(target, home, notice);
  stack.add(() => store.close());
  const isUnused = (await store.journalHead()) === null;
  const heads = await HeadKeeper.start({
    home,
    store,
    keys: () => journalKeys(home),
    now,
    warn: (message, err) => log.warn({ err }, message),
  });
  stack.add(() => heads.stop());
  const rotateJournal = (takeNext: boolean) => rotateJournalKey({ home, store, heads, now, takeNext });
  await rotateJournal(true);
  const access = new AccessJournal({ store, now, warn: (message, err) => log.error({ err }, message) });
  stack.add(() => access.stop());
  const firstAdmin = ensureFirstAdmin({ store, home, hashing, settings, now, log }).then(async generated => {
    // From now on these secrets open this registry only: see checkUnused.
    if (isUnused) await heads.write();
    return generated;
  });
  firstAdmin.catch(() => {});
  const blobs = await openBlobs(
    settings.files,
    { folder: home.path('blobs'), hasOthers: store.sharedWork !== undefined },
    notice,
  );
  stack.add(
    await keepSwept(
      blobs,
      names => store.knownBlobs(names),
      (message, err) => log.warn({ err }, message),
    ),
  );
  stack.add(() => blobs.discardAll());
  stack.add(watchOthers(blobs, store.sharedWork, message => log.warn(message)));
  return { store, blobs, access, rotateJournal, firstAdmin };
}
