/** Providers of sign-in at which keys are issued for persons, and the credentials of devices there. */
import { type Static, Type } from 'typebox';
import { signedAction } from './assertion.ts';
import { Code } from './codes.ts';
import { additions, administration, adminPerson } from './define.ts';
import { boolean, count, line, maybe, nullable, oneOf, secret, shown, timestamp, token } from './fields.ts';
import { credentialIds, providerIds } from './ids.ts';
import { providerBounds } from './limits.ts';
import { forEachProviderSetting, neededOf, providerSettings, shownProviderSettings } from './provider-fields.ts';
import { changers, type ProviderType, providerTypes, roles } from './values.ts';
import { attestation, attested, storedOnKey, webauthnJson } from './webauthn.ts';

const providerId = Type.String({ pattern: providerIds.pattern, examples: ['IDP-1'] });
const credentialId = Type.String({ pattern: credentialIds.pattern, examples: ['CRD-1'] });
/** Parameters of the operations on what a device has. */
export const ofDevice = { deviceId: token({ description: 'id of the device', examples: ['DEV-1'] }) };
const ofCredential = { ...ofDevice, credentialId: token({ description: 'id of the credential', examples: ['CRD-1'] }) };
const params = Type.Object({ providerId: token({ description: 'id of the provider', examples: ['IDP-1'] }) });
const ofOne = {
  ...adminPerson,
  params,
  errors: [404],
  example: { params: { providerId: 'IDP-1' } },
} as const;
const providerSecret = secret(
  { min: 1, max: providerBounds.secret },
  { description: 'what requests are authorized with, in printable ASCII characters' },
);

const needed = (type: ProviderType) => neededOf(type, setting => setting);

/** A provider, without its secret. */
const provider = Type.Object({
  providerId,
  name: shown('name, as commands use it', 'entra'),
  type: oneOf(providerTypes, {
    description:
      'entra: Microsoft Entra ID; okta; webauthn: a server with addresses of its own; devmgr: the accounts of this registry; ssh: SSH keys, for which hosts ask this registry',
  }),
  ...forEachProviderSetting(shownProviderSettings, ({ shown: meaning }) => nullable(shown(meaning!))),
  credentials: count('credentials at this provider that are not removed'),
  pending: count('credentials that must be removed there and are not yet'),
  problem: nullable(shown('why the last request has failed; null if it has not')),
  createdAt: timestamp('when it was added'),
});
/** A provider, without its secret. */
export type ProviderItem = Static<typeof provider>;

/** What an SSH client needs of a credential. Neither is a secret: the key alone can use the handle. */
const sshCredential = Type.Object(
  {
    publicKey: shown('public key, as authorized_keys has it', 'sk-ssh-ed25519@openssh.com AAAA'),
    handle: shown('id of the credential on the key, base64url', 'AAAA'),
    verifyRequired: boolean('whether the key asks for its PIN at each login'),
  },
  { description: 'of a credential at a provider of type ssh, for ADMIN and DEALER' },
);
/** What an SSH client needs of a credential. */
export type SshCredential = Static<typeof sshCredential>;

/** A credential of a device at a provider. */
const credential = Type.Object({
  credentialId,
  providerId,
  person: shown('user name of the person that the credential signs in', 'ada.lovelace'),
  createdAt: nullable(timestamp('when the provider accepted it; null if it is not finished')),
  removedAt: nullable(timestamp('when it was removed at the provider')),
  pending: boolean(
    'true if it is not complete, or if the provider still accepts it for a device that is no longer ACTIVE, or for a key that was reset',
  ),
  reset: Type.Optional(boolean('true: a reset of the key was begun, and its outcome is not recorded')),
  stored: Type.Optional(storedOnKey),
  ssh: Type.Optional(sshCredential),
});
/** A credential of a device at a provider. */
export type CredentialItem = Static<typeof credential>;

const difference = Type.Object({
  credentialId,
  deviceId: shown('id of the device', 'DEV-1'),
});

/** Operations on providers and credentials. */
export const providerOperations = additions('Providers', {
  /** Secrets are never returned. */
  listProviders: {
    summary: 'List the providers at which keys are issued',
    access: changers,
    data: Type.Object({ list: Type.Array(provider) }),
  },

  /** The secret is sealed in the registry. */
  createProvider: {
    summary: 'Add a provider',
    description: `${needed('entra')}; ${needed('okta')}; ${needed('webauthn').replace('address', 'address (options)')}. The secret is a client secret of Entra ID, an API token of Okta, or what a WebAuthn server accepts as bearer token. ${needed('devmgr')}, that of the console of this registry, and no secret: its credentials are sign-in keys of accounts, which only an ADMIN issues and removes. ssh needs no secret; hosts ask for its keys at each login, so a locked key is refused without being removed. A registry has at most ${providerBounds.providers} providers.`,
    ...administration,
    body: Type.Object({
      name: line(providerBounds.name, {
        description: 'name, unique, without a comma and not an id',
        examples: ['entra'],
      }),
      type: oneOf(providerTypes),
      secret: maybe(providerSecret),
      ...forEachProviderSetting(providerSettings, ({ description }) =>
        maybe(line(providerBounds.url, { description })),
      ),
    }),
    data: provider,
    example: { body: { name: 'okta', type: 'okta', address: 'https://example.okta.com', secret: '00abc' } },
  },

  /** Asks the provider for something harmless. */
  testProvider: {
    ...ofOne,
    summary: 'Test a provider',
    limit: 'query',
    data: Type.Object({
      reachable: boolean('whether the provider accepts requests of this registry'),
      problem: nullable(shown('why it does not, and what to do')),
      proxy: maybe(
        shown(
          'the proxy that the daemon uses for it, and the variable that names it; null if there is none',
          'the proxy http://proxy.example.com:3128 (HTTPS_PROXY)',
        ),
      ),
    }),
  },

  /** Without `apply` a preview. */
  reconcileProvider: {
    ...ofOne,
    summary: 'Compare the credentials here and at a provider',
    description: `Looks at ${providerBounds.reconciled} credentials and all others of their persons; \`next\` is where the next request continues. Credentials younger than 10 minutes are ignored, because the provider may not list them yet. Counts as one query. With apply, credentials of other persons are removed at the provider, those that only the provider has if this registry has created them, and those that only the registry has are marked as removed. Names of credentials have the id of their registry; one of an earlier version has none and is removed only if this registry knows its ids. A provider of type webauthn lists nothing: only persons are compared.`,
    limit: 'query',
    body: Type.Object({
      apply: Type.Optional(boolean('true: fix the differences')),
      after: Type.Optional(count('`next` of the previous response')),
    }),
    data: Type.Object({
      onlyHere: Type.Array(difference, { description: 'credentials that the provider does not have' }),
      onlyThere: Type.Array(
        Type.Object({
          account: shown('what the provider calls the person'),
          remoteId: shown('what the provider calls the credential'),
          label: nullable(shown('name of the credential there')),
          removable: boolean('whether this registry has made it, so that apply removes it'),
        }),
        { description: 'credentials of these persons that the registry does not have; people add some themselves' },
      ),
      otherPerson: Type.Array(difference, { description: 'credentials whose device belongs to another person' }),
      next: nullable(count('after of the next request; null at the end')),
    }),
    example: { params: { providerId: 'IDP-1' }, body: { apply: false } },
  },

  /** Client secrets and tokens expire: without a new one, no credential could be removed there. */
  setProviderSecret: {
    ...ofOne,
    summary: 'Replace the secret of a provider',
    description: 'The new secret is used from the next request on. Credentials and settings stay.',
    stepUp: true,
    body: Type.Object({ secret: providerSecret }),
    data: provider,
    example: { params: { providerId: 'IDP-1' }, body: { secret: '00def' } },
  },

  /** Refused while credentials there are not removed: what forgets them could remove them no more. */
  removeProvider: {
    ...ofOne,
    summary: 'Remove a provider',
    stepUp: true,
    data: Type.Object({ providerId, removed: Type.Boolean() }),
  },

  /** Lists removed credentials, too. */
  listCredentials: {
    summary: 'List the credentials of a device',
    description:
      'For ADMIN and DEALER, `stored` is what the key can be asked for: a key that has none of them was erased, or is another one. It is absent if the key did not report the credential without its PIN when it was made.',
    access: roles,
    params: Type.Object(ofDevice),
    data: Type.Array(credential),
    errors: [Code.deviceNotFound],
    example: { params: { deviceId: 'DEV-1' } },
  },

  /** The registry asks the provider; no secret of the provider reaches the caller. */
  startCredential: {
    summary: 'Begin a credential for the person of a device',
    description:
      'The device must be ACTIVE. Returns the creation options of the provider, for the person that the device is bound to. A credential that was begun and not finished is begun again.',
    access: changers,
    params: Type.Object(ofDevice),
    body: Type.Object({ ...params.properties, ...signedAction }),
    data: Type.Object({
      credentialId,
      origin: shown('origin for which the key answers', 'https://login.microsoft.com'),
      options: webauthnJson('creation options of the provider, as JSON'),
      expiresAt: timestamp('when the challenge of the provider expires'),
    }),
    errors: [404, Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated, Code.serialDuplicated],
    example: { params: { deviceId: 'DEV-1' }, body: { providerId: 'IDP-1' } },
  },

  /** May be repeated with the same answer: an answer of the provider that was lost is looked up there. */
  finishCredential: {
    summary: 'Finish a credential',
    access: changers,
    params: Type.Object(ofCredential),
    body: Type.Object({
      response: attestation,
      reported: Type.Optional(boolean('true: the key has reported the credential, without its PIN, after it was made')),
    }),
    data: credential,
    errors: [404, Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated],
    example: { params: { deviceId: 'DEV-1', credentialId: 'CRD-1' }, body: { response: attested } },
  },

  /** At the provider first, then here. */
  removeCredential: {
    summary: 'Remove a credential at its provider',
    access: changers,
    params: Type.Object(ofCredential),
    data: credential,
    errors: [404, Code.deviceNotFound],
    example: { params: { deviceId: 'DEV-1', credentialId: 'CRD-1' } },
  },
});
