/** Issuing: keys that are registered at providers, their PINs and their resets. */
import { passkeyIds, userIds } from '../../src/contract/ids.ts';
import { DueWork } from '../background/due-work.ts';
import type { RecognizingCredential } from '../devices/judges.ts';
import type { StartSubject } from '../http/subject.ts';
import { credentialWithCose } from '../proofs/judge/credential.ts';
import { retrying } from '../requests/context.ts';
import type { CredentialRecord } from './credential.ts';
import { CredentialService } from './credential-service.ts';
import { isHeld } from './key-reset.ts';
import { KeyResetService } from './key-reset-service.ts';
import { ownAccounts } from './own-accounts.ts';
import { PinService } from './pin-service.ts';
import { sshIn } from './present.ts';
import { ProviderService } from './provider-service.ts';
import { reconciler } from './reconcile.ts';
import { RemoteCredentials } from './remote-credentials.ts';
import { CredentialRemovals } from './work.ts';

/** What issuing knows of a device, by its number. */
export interface IssuedKeys {
  /** Names of the providers that accept a credential of the device that was issued at this time or later. */
  providersOf(device: number, since: number): Promise<readonly string[]>;
  /** Credentials of the device that sign in an account, by its number, to the console at a name. */
  signInKeysOf(device: number, site: string, owner: number): Promise<readonly RecognizingCredential[]>;
}

declare module '../http/subject.ts' {
  interface Offers {
    issuedKeys?: IssuedKeys;
  }
}

export const startIssuing: StartSubject = ({ settings, log, stack, store, instance, now, offers }) => {
  const { passkeys, policies } = offers.signIn;
  const own = ownAccounts({ store, passkeys, policies, stepUp: offers.accounts.stepUp, now });
  const sealingKey = instance.secret('providers');
  const providers = new ProviderService({ store, sealingKey, allowed: settings.webhookAllow, own, now });
  const remoteCredentials = new RemoteCredentials({ store, providers, now });
  const identities = offers.identityJudge!;
  const parts = { store, providers, remoteCredentials, identities, registryId: instance.id, now };
  const credentials = new CredentialService(parts);
  stack.start(new DueWork({ store, log }, new CredentialRemovals({ store, providers, remoteCredentials, log, now })));
  offers.personReaders = () => providers.readable();
  /** A credential at another provider may have the id of a key that its user has registered. */
  const ownProviders = async () =>
    (await providers.read()).list.flatMap(({ number, type }) => (type === 'devmgr' ? number : []));
  offers.issued = {
    async devicesWith(ids) {
      const found = await store.issuedCredentials(ids);
      return found.map(({ credentialId, device }) => [credentialId, device] as const);
    },
    async deviceOf({ number, owner }) {
      const own = (await ownProviders()).map(one => store.credentialsOfAccount(one, userIds.format(owner)));
      const isOfKey = ({ remoteId, issuedAt }: CredentialRecord) =>
        issuedAt !== null && remoteId === passkeyIds.format(number);
      return (await Promise.all(own)).flat().find(one => isHeld(one) && isOfKey(one))?.device ?? null;
    },
  };
  offers.sshKeys = {
    async devicesWith(keys) {
      const found = await store.issuedSshKeys(keys);
      return found.map(({ sshKey, device }) => [sshKey, device] as const);
    },
    async keysOf(device) {
      const found = (await store.credentialsOf(device)).flatMap(one => sshIn(one) ?? []);
      return found.map(({ publicKey: key, verifyRequired }) => ({ key, verifyRequired }));
    },
  };
  const acceptedOf = async (device: number, since = 0) =>
    (await store.credentialsOf(device)).filter(
      ({ issuedAt, removedAt }) => issuedAt !== null && issuedAt >= since && removedAt === null,
    );
  offers.issuedKeys = {
    async providersOf(device, since) {
      const accepted = await acceptedOf(device, since);
      const { list } = await providers.read();
      return list.filter(({ number }) => accepted.some(({ provider }) => provider === number)).map(({ name }) => name);
    },
    async signInKeysOf(device, site, owner) {
      const own = await ownProviders();
      const found = (await acceptedOf(device)).map(async ({ credentialId, provider }) => {
        const passkey =
          credentialId === null || !own.includes(provider) ? null : await store.passkeyByCredential(credentialId);
        if (passkey?.owner !== owner || passkey.removedAt !== null || passkey.rpId !== site) return [];
        const credential = credentialWithCose(passkey.credentialId, passkey.publicKey);
        return credential ? [{ ...credential, relyingParty: site, createdAt: passkey.createdAt }] : [];
      });
      return (await Promise.all(found)).flat();
    },
  };
  const reconcile = reconciler(parts);
  const resets = new KeyResetService({ store, providers, identities, now });
  const pins = new PinService({ store, now });
  return {
    // Requests are repeated after a `Conflict`: the removal of a lost key may have changed the same credential.
    operations: {
      listProviders: () => providers.list(),
      createProvider: ({ context, body }) => providers.create(context, body),
      testProvider: ({ params }) => providers.test(params.providerId),
      reconcileProvider: ({ context, params, body }) => retrying(() => reconcile(context, params.providerId, body)),
      setProviderSecret: ({ context, params, body }) => providers.setSecret(context, params.providerId, body.secret),
      removeProvider: ({ context, params }) => providers.remove(context, params.providerId),
      listCredentials: ({ context, params }) => credentials.list(context, params.deviceId),
      startCredential: ({ context, params, body }) => retrying(() => credentials.start(context, params.deviceId, body)),
      finishCredential: ({ context, params, body }) =>
        retrying(() => credentials.finish(context, params.deviceId, params.credentialId, body)),
      removeCredential: ({ context, params }) =>
        retrying(() => credentials.remove(context, params.deviceId, params.credentialId)),
      showPinPolicy: () => pins.policy(),
      setPinPolicy: ({ context, body }) => pins.setPolicy(context, body),
      showKeyReset: ({ params }) => resets.show(params.deviceId),
      recordKeyReset: ({ context, params, body }) => resets.record(context, params.deviceId, body),
      storePin: ({ context, params, body }) => pins.save(context, params.deviceId, body),
      readPin: ({ context, params }) => pins.read(context, params.deviceId),
    },
    gauges: async () => {
      const value = await providers.pending();
      if (value === null) return {};
      return { devmgr_idp_pending: { help: 'Credentials of keys that providers still have to remove', value } };
    },
  };
};
