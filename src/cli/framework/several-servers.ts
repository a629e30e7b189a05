/** A login at a registry with several addresses: all that answer must be the same registry. */
import type { Client } from '../client/client.ts';
import { NotServing, Unreachable } from '../client/failures.ts';
import { Fault } from '../fault.ts';
import { checkKnown, meetServer } from '../session/server-identity.ts';
import { demandOneRegistry, expectedAt, type KnownServer, knownServers, type Met } from '../settings/known-servers.ts';
import { addressesOf } from '../settings/settings.ts';
import type { Context } from './context.ts';

/** How long a login waits for addresses that do not answer. */
const meetMs = 5_000;

/** An address that did not answer. */
interface Away {
  readonly address: string;
  readonly error: Error;
}

/**
 * Asks all addresses who they are. A client of the first one that answers, and what is to be stored. A fault if they are different
 * registries, or another one than the profile knows and `acceptNewServer` is false; `Unreachable` if none answers.
 */
export async function meetAll(
  context: Context,
  acceptNewServer: boolean,
): Promise<{ readonly registry: Client; readonly met: readonly Met[] }> {
  const { registry, out } = context;
  const { met, away } = await askAll(context);
  const [first] = met;
  if (!first) throw away[0]!.error;
  demandOneRegistry(met);
  if (!acceptNewServer) for (const one of met) checkExpected(context, one);
  if (!context.globals.json)
    for (const { error } of away) out.notice(`${error.message}; its identity is checked when it is first used`);
  const replaced = acceptNewServer ? replacedAt(context, away, first.known) : [];
  return { registry: registry.at(first.address), met: [...met, ...replaced] };
}

/** Null if all addresses that answer are the same registry, the one that the profile knows; else why not. Stores nothing. */
export async function sameRegistry(context: Context): Promise<Fault | null> {
  try {
    const { met } = await askAll(context);
    demandOneRegistry(met);
    for (const one of met) checkExpected(context, one);
    return null;
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'failure') throw error;
    return error;
  }
}

async function askAll(context: Context): Promise<{ readonly met: readonly Met[]; readonly away: readonly Away[] }> {
  const late = AbortSignal.timeout(meetMs);
  const addresses = addressesOf(context.settings.server);
  const asked = await Promise.all(addresses.map(address => meetAt(context, address, late)));
  return { met: asked.filter(one => 'known' in one), away: asked.filter(one => 'error' in one) };
}

async function meetAt({ registry, io }: Context, address: string, late: AbortSignal): Promise<Met | Away> {
  try {
    return { address, known: await meetServer(registry.with({ signal: late, wait: false }).at(address)) };
  } catch (error) {
    if (error instanceof Unreachable || error instanceof NotServing) return { address, error };
    if (!late.aborted || io.interrupt.aborted || !(error instanceof Fault) || error.kind !== 'interrupted') throw error;
    return { address, error: new Unreachable(`${address} did not answer in time`, false) };
  }
}

function checkExpected({ settings, acceptHint }: Context, { address, known }: Met): void {
  const expected = expectedAt(settings, addressesOf(settings.server), address);
  if (expected.known !== null) checkKnown(known, address, expected.known, acceptHint);
}

/** Addresses that are away and had the identity that is replaced. */
function replacedAt({ settings }: Context, away: readonly Away[], known: KnownServer | null): readonly Met[] {
  const had = away.filter(({ address }) => knownServers.read(settings, address) !== null);
  return known === null ? [] : had.map(({ address }) => ({ address, known: { ...known, direct: false } }));
}
