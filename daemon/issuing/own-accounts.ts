/** The accounts of this registry as a provider: the credentials are the keys that people sign in to devmgr with. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { deviceIds, passkeyIds, userIds } from '../../src/contract/ids.ts';
import { passkeyBounds } from '../../src/contract/limits.ts';
import { isAddressHost } from '../base/networks.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Caller, ServiceParts } from '../requests/context.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import type { StepUpRule } from '../requests/session.ts';
import type { PasskeyService } from '../sign-in/passkeys.ts';
import type { SignInPolicies } from '../sign-in/policies.ts';
import { type IssuingProvider, ProviderRefused } from './providers/provider-api.ts';

interface OwnAccountsParts extends ServiceParts {
  readonly passkeys: Pick<PasskeyService, 'issueOptions' | 'issue' | 'takeBack'>;
  readonly policies: Pick<SignInPolicies, 'demandKeyOf'>;
  readonly stepUp: StepUpRule;
}

/** Fault of the address of the console; null if there is none. */
export function consoleAddressProblem(address: string): string | null {
  const { origin, hostname } = new URL(address);
  if (origin !== address.replace(/\/$/, '')) return 'must have no path: https://registry.example.com';
  return isAddressHost(hostname) ? 'must have a name: security keys do not work with an IP address' : null;
}

/** Accounts that an ADMIN issues keys for. */
export const ownAccounts = ({ store, passkeys, policies, stepUp, now }: OwnAccountsParts) => ({
  /** A sign-in key gives access to an account, so only those who can change accounts can issue or remove one, under the same conditions. */
  async demand(caller: Caller): Promise<void> {
    if (caller.user === null || caller.role !== 'ADMIN')
      throw new ApiError(
        Code.noPermission,
        'keys that sign in to devmgr are issued and removed by a user with the role ADMIN',
      );
    stepUp.check(caller);
    await policies.demandKeyOf(caller);
  },

  /** The provider whose console has this address. */
  at(address: string): IssuingProvider {
    const { origin, hostname: id } = new URL(address);
    const site: RelyingParty = { id, origin };
    return {
      test: async () => {},
      account: async userName => {
        const named = await store.usersNamed(userName);
        const user = named.find(({ username }) => username === userName) ?? (named.length === 1 ? named[0]! : null);
        return userIds.format(present(user, userName).number);
      },
      options: async account => {
        const user = present(await store.user(numberOf(account)), account);
        const expiresAt = now() + passkeyBounds.challengeSeconds * 1000;
        const options = { ...(await passkeys.issueOptions(user, site)) };
        return { origin, options, expiresAt, handle: null };
      },
      finish: async ({ account, response, device, by }) => {
        const user = present(await store.user(numberOf(account)), account);
        const key = { name: deviceIds.format(device), response };
        // Its response is that of the credential, which is stored later.
        const context = { ...by, keyed: undefined };
        const { passkeyId } = await passkeys.issue(context, user, key, site).catch(asRefusal);
        return passkeyId;
      },
      list: async account => {
        const keys = await store.passkeysOf(numberOf(account));
        return keys
          .filter(({ rpId }) => rpId === id)
          .map(({ number, credentialId, name }) => ({
            remoteId: passkeyIds.format(number),
            credentialId,
            label: name,
          }));
      },
      remove: async (account, { credentialId }) => {
        await passkeys.takeBack(numberOf(account), credentialId);
        return true;
      },
    };
  },
});

/** Accounts that an ADMIN issues keys for. */
export type OwnAccounts = ReturnType<typeof ownAccounts>;

/** An account that refuses a key is a provider that refuses it. */
function asRefusal(error: unknown): never {
  throw error instanceof ApiError && error.code === Code.parameterError ? new ProviderRefused(error.message) : error;
}

const numberOf = (account: string): number => userIds.parse(account) ?? 0;

function present(user: UserRecord | null, named: string): UserRecord {
  if (user === null) throw new ProviderRefused(`no account of devmgr has the user name ${named}`);
  if (user.disabled) throw new ProviderRefused(`the account ${user.username} is disabled`);
  return user;
}
