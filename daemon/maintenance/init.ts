/** Creates a registry: schema, keys and the first administrator. */
import type { InitOptions, ProgramIo } from '../../src/contract/programs.ts';
import { ensureFirstAdmin } from '../accounts/first-admin.ts';
import { signingKeys } from '../accounts/signing-keys.ts';
import { checkBelonging, presentImprint } from '../home/belonging.ts';
import { readSetting, secretsFrom } from '../home/given-settings.ts';
import { HeadKeeper } from '../home/head-keeper.ts';
import { Home } from '../home/home.ts';
import { Instance } from '../home/instance.ts';
import { journalKeys } from '../home/journal-keys.ts';
import { lockHome } from '../home/lock.ts';
import { withSecrets } from '../home/secrets-lock.ts';
import { type StoreTarget, storeTarget } from '../home/store-target.ts';
import { print, reporting } from '../start/program-io.ts';
import { lockCreation, openStore, readImprint } from '../start/store-engine.ts';

interface Report {
  /** False if the registry existed; then nothing was changed. */
  readonly created: boolean;
  readonly registry: string;
  /** Folder of the keys. */
  readonly secrets: string;
  /** The first administrator; null if the registry existed. */
  readonly administrator: string | null;
  /** Null if the password was given or the registry existed. */
  readonly initialPasswordFile: string | null;
  /** Folder with the keys of the registry that had this home or folder before; absent if there was none. */
  readonly earlierSecrets?: string;
}

/**
 * Creates the registry. If it exists, reports that and changes nothing. Refuses secrets that belong to another registry, unless a
 * new one is wanted: it gets secrets of its own. Other nodes that do the same wait for the end of this.
 */
export function init(options: InitOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const target = storeTarget(options.store ?? null, io.env);
    const home = await Home.open(options.home, secretsFrom(options.secrets ?? null, io.env));
    const result = (await existing(target, home)) ?? (await createAlone(target, home, options, io));
    await print(io.stdout, options.json ? `${JSON.stringify(result)}\n` : textOf(result));
    return 0;
  });
}

/** Null if there is no registry, or one that was never used. Refuses one with other secrets. */
async function existing(target: StoreTarget | null, home: Home): Promise<Report | null> {
  const read = () => readImprint(target, home);
  const imprint = await (target === null ? read() : presentImprint(home, read));
  await checkBelonging(home, imprint);
  if (imprint === null || imprint.head === null) return null;
  const { name: registry } = imprint;
  return { created: false, registry, secrets: home.secretsDir, administrator: null, initialPasswordFile: null };
}

async function createAlone(
  target: StoreTarget | null,
  home: Home,
  { newRegistry = false }: InitOptions,
  io: ProgramIo,
): Promise<Report> {
  const lock = await lockHome(home);
  try {
    const release = await lockCreation(target);
    try {
      const found = await existing(target, home);
      if (found) return found;
      const isKnown = newRegistry && (await home.has('journalHeads'));
      const earlierSecrets = isKnown ? await withSecrets(home, () => home.setSecretsAside()) : undefined;
      return { ...(await create(target, home, io)), ...(earlierSecrets && { earlierSecrets }) };
    } finally {
      await release();
    }
  } finally {
    await lock.release();
  }
}

async function create(target: StoreTarget | null, home: Home, io: ProgramIo): Promise<Report> {
  const admin = readSetting('admin', {}, io.env);
  const now = Date.now;
  // A refusal is one line.
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(`devmgr: ${text}\n`);
  const store = await openStore(target, home, warn);
  try {
    const heads = await HeadKeeper.start({ home, store, keys: () => journalKeys(home), now, warn });
    await signingKeys(home, now());
    await Instance.open(home);
    // The result has the lines that it would log.
    const log = { info: () => {} };
    const generated = await ensureFirstAdmin({ store, home, hashing: null, settings: { admin }, now, log });
    await heads.stop();
    io.stderr.write(warnings.join(''));
    return {
      created: true,
      registry: (await readImprint(target, home))!.name,
      secrets: home.secretsDir,
      administrator: admin.username,
      initialPasswordFile: generated === null ? null : home.path('initialPassword'),
    };
  } finally {
    await store.close();
  }
}

function textOf({ created, registry, secrets, administrator, initialPasswordFile, earlierSecrets }: Report): string {
  if (!created) return `the registry in ${registry} exists, with its keys in ${secrets}; nothing was changed\n`;
  const password = initialPasswordFile === null ? '' : `; the password is in ${initialPasswordFile}`;
  const earlier = earlierSecrets === undefined ? '' : `moved the keys of the earlier registry to ${earlierSecrets}\n`;
  return `${earlier}created the registry in ${registry}\ncreated the keys in ${secrets}\ncreated the administrator ${administrator}${password}\n`;
}
