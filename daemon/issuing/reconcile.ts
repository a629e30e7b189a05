/** Compares the credentials of the registry with those that a provider lists, and fixes the differences. */

import pLimit from 'p-limit';
import { credentialIds, deviceIds } from '../../src/contract/ids.ts';
import { providerBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { isSshKey } from '../../src/contract/ssh-key.ts';
import { type Context, commitFor } from '../requests/context.ts';
import { type CredentialRecord, removed } from './credential.ts';
import type { CredentialServiceParts } from './credential-service.ts';
import type { ProviderRecord } from './provider.ts';
import { type RemoteCredential, registryOf } from './providers/provider-api.ts';
import { SETTLES_MS } from './remote-credentials.ts';

type Reconciliation = Data<'reconcileProvider'>;
type ReconcileInput = Body<'reconcileProvider'>;

/** Number of persons whose credentials are read at the same time. */
const AT_ONCE = 4;

/**
 * One portion of the credentials of a provider: `next` is where the following one begins. With `apply`, what differs is repaired; a
 * credential of which only the provider knows is removed there if this registry has made it.
 */
export type Reconcile = (context: Context, providerId: string, input: ReconcileInput) => Promise<Reconciliation>;

interface AccountDifferences {
  readonly account: string;
  readonly onlyHere: readonly CredentialRecord[];
  readonly onlyThere: readonly (RemoteCredential & { readonly isOwn: boolean })[];
  readonly otherPerson: readonly CredentialRecord[];
}

/** Makes it. */
export function reconciler({
  store,
  providers,
  remoteCredentials,
  registryId,
  now,
}: CredentialServiceParts): Reconcile {
  /** A label of an earlier version names no registry: it is that of this one if a credential has, or had, an id of it. */
  function isOwn(there: RemoteCredential, known: readonly CredentialRecord[]): boolean {
    const registry = registryOf(there.label, registryId);
    return registry === 'own' || (registry === 'unknown' && known.some(one => isAt(one, there)));
  }

  /** Without a list of the provider, only persons are compared. */
  async function compare(provider: ProviderRecord, account: string): Promise<AccountDifferences> {
    const remote = await providers.ask(provider, api => api.list(account));
    // Read after the list: else a credential that is issued in between would be one that only the provider has.
    const known = await store.credentialsOfAccount(provider.number, account);
    const open = known.filter(({ removedAt, credentialId }) => removedAt === null && credentialId !== null);
    const isSettled = ({ issuedAt, uncertainAt, createdAt }: CredentialRecord) =>
      now() - (issuedAt ?? uncertainAt ?? createdAt) >= SETTLES_MS;
    const persons = await Promise.all(
      open.map(async ({ device }) => {
        const userName = (await store.device(device))?.userId ?? null;
        return userName === null ? null : providers.ask(provider, api => api.account(userName)).catch(() => null);
      }),
    );
    return {
      account,
      onlyHere: remote === null ? [] : open.filter(one => isSettled(one) && !remote.some(there => isAt(one, there))),
      onlyThere: (remote ?? [])
        .filter(there => !open.some(one => isAt(one, there)))
        .map(there => ({ ...there, isOwn: isOwn(there, known) })),
      // An SSH key is always that of the present person of its device.
      otherPerson: open.filter((one, at) => !isSshKey(one.remoteId) && persons[at] !== null && persons[at] !== account),
    };
  }

  /** At the provider first: a second run finds what the first one did not complete. */
  async function repair(
    context: Context,
    provider: ProviderRecord,
    { account, onlyHere, onlyThere, otherPerson }: AccountDifferences,
  ): Promise<void> {
    const changes = [];
    for (const one of otherPerson) changes.push((await remoteCredentials.remove(provider, one)) ?? []);
    for (const { remoteId, credentialId, isOwn } of onlyThere)
      if (isOwn)
        await providers.ask(provider, api => api.remove(account, { remoteId, credentialId: credentialId ?? '' }));
    const at = now();
    for (const one of onlyHere) if (!otherPerson.includes(one)) changes.push(removed(one, at));
    if (changes.length > 0) await commitFor(store, context, { at, changes: changes.flat() });
  }

  return async (context, providerId, { apply = false, after = 0 }) => {
    const provider = await providers.find(providerId);
    const portion = await store.credentialsAt(provider.number, after, providerBounds.reconciled);
    const limit = pLimit(AT_ONCE);
    const accounts = [...Map.groupBy(portion, ({ account }) => account)];
    const found = await Promise.all(
      accounts.map(([account, [first]]) =>
        limit(async () => {
          const [earliest] = await store.credentialsOfAccount(provider.number, account);
          // Each person is compared once, in the portion with the first credential of that person.
          if (earliest?.number !== first?.number) return null;
          const differences = await compare(provider, account);
          if (apply) await repair(context, provider, differences);
          return differences;
        }),
      ),
    );
    const all = found.filter(one => one !== null);
    return {
      onlyHere: all.flatMap(({ onlyHere }) => onlyHere.map(named)),
      onlyThere: all.flatMap(({ account, onlyThere }) =>
        onlyThere.map(({ remoteId, label, isOwn }) => ({ account, remoteId, label, removable: isOwn })),
      ),
      otherPerson: all.flatMap(({ otherPerson }) => otherPerson.map(named)),
      next: portion.length === providerBounds.reconciled ? portion.at(-1)!.number : null,
    };
  };
}

/** A member that one of them lacks is not equal to that of another one. */
const isAt = (one: CredentialRecord, { remoteId, label, credentialId }: RemoteCredential): boolean =>
  one.remoteId === remoteId || one.label === label || (credentialId !== null && one.credentialId === credentialId);

const named = ({ number, device }: CredentialRecord) => ({
  credentialId: credentialIds.format(number),
  deviceId: deviceIds.format(device),
});
