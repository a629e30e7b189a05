/** For which registry a spool file is. */
import type { Client } from '../../../client/client.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { meetServer } from '../../../session/server-identity.ts';
import { type KnownServer, knownServers } from '../../../settings/known-servers.ts';
import { addressesOf } from '../../../settings/settings.ts';
import { isAway } from '../enroll/enrollment-parts.ts';
import type { SpoolHeader } from './lines.ts';

/** The registry of this command, and why it cannot be reached; `away` null if it answers. */
interface MetRegistry {
  readonly header: SpoolHeader;
  readonly away: Error | null;
}

/** Meets the registry, with a login. If it is away: what this profile knows of it. */
export const meetRegistry = (context: Context, registry: Client = context.registry): Promise<MetRegistry> =>
  metBy(context, async () => {
    await registry.token();
    return meetServer(registry);
  });

/** Throws a usage fault if a file of which no key waits is for another registry. Needs no login; a registry that is away is not checked. */
export async function checkRegistry(context: Context, file: string, expected: SpoolHeader): Promise<void> {
  const { header, away } = await metBy(context, () => meetServer(context.registry));
  if (away === null) demandRegistry(file, expected, header, 'no key is waiting in it: there is nothing to deliver');
}

async function metBy(context: Context, meet: () => Promise<KnownServer | null>): Promise<MetRegistry> {
  const parts = { servers: serversOf(context), createdAt: new Date().toISOString() };
  try {
    const met = await meet();
    return { header: { registry: met?.instanceId ?? null, ...parts }, away: null };
  } catch (error) {
    if (!isAway(error)) throw error;
    return { header: { registry: knownRegistry(context), ...parts }, away: error };
  }
}

/** Throws a usage fault if a file is for another registry than this one. If one of them has no known identity, the addresses decide. */
export function demandRegistry(
  file: string,
  expected: SpoolHeader,
  { registry, servers }: SpoolHeader,
  hint = 'nothing was delivered; name the registry of the file with --server or --profile',
): void {
  const isSame =
    expected.registry !== null && registry !== null
      ? expected.registry === registry
      : expected.servers.some(server => servers.includes(server));
  if (isSame) return;
  throw usage(
    `${file} is for another registry: ${nameOf(expected)}, and this is ${nameOf({ registry, servers })}`,
    hint,
  );
}

const nameOf = ({ registry, servers }: Pick<SpoolHeader, 'registry' | 'servers'>): string =>
  `${servers.join(',')} (instance ${registry ?? 'not known'})`;

function knownRegistry({ settings, identities }: Context): string | null {
  const known = identities().map(name => knownServers.read(settings, name));
  return known.find(server => server !== null)?.instanceId ?? null;
}

/** The daemon of a home has another port after some restarts. */
const serversOf = ({ settings: { server, home } }: Context): readonly string[] =>
  server === null ? [`the daemon of ${home}`] : addressesOf(server);
