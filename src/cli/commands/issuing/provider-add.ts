/** Adds what a provider gives: keys, sign-in and people. */
import { serviceTokenDays } from '../../../contract/limits.ts';
import {
  neededOf,
  type ProviderField,
  type ProviderSetting,
  providerAddresses,
  providerFields,
  providerSettings,
  settingsOfProvider,
  signInIssuers,
} from '../../../contract/provider-fields.ts';
import { isOwnType, type ProviderType, providerTypes } from '../../../contract/values.ts';
import { type PartName, partNames } from '../../../fleet/provider-parts.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { fileFlag, type Hyphens, hyphens } from '../../framework/flags.ts';
import { presentSeveral, type Result } from '../../framework/present.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { safe } from '../../terminal/text.ts';
import { createToken, tokenFlags, writeToken } from '../accounts/tokens.ts';
import { setSso, ssoToAdd } from '../single-sign-on/sso.ts';
import { isChosen } from './provider-parts.ts';

/** The file with the secret of a provider. */
export const secretFlag = {
  ...fileFlag('read the client secret, API token or bearer token from the first line of a file; - is standard input'),
  field: 'secret',
} as const;
/** The error without that file. */
export const noSecret = () => usage('the secret is missing', 'write it to a file: --secret-file FILE');

const flagsOf = (settings: readonly ProviderSetting[]) =>
  Object.fromEntries(
    settings.map(setting => {
      const { description, help = description, isAddress }: ProviderField = providerFields[setting];
      return [hyphens(setting), { value: isAddress ? 'URL' : setting === 'verification' ? 'KIND' : 'ID', help }];
    }),
  ) as Readonly<Record<Hyphens<ProviderSetting>, { readonly value: string; readonly help: string }>>;
const needed = (type: ProviderType) => neededOf(type, setting => `--${hyphens(setting)}`);

type Settings = Readonly<Partial<Record<ProviderSetting, string | undefined>>>;

/** The fields that a type needs, as flags with sample values. */
const samplesOf = (type: ProviderType) =>
  settingsOfProvider(type)
    .needs.map(setting => `--${hyphens(setting)} ${(providerFields[setting] as ProviderField).sample}`)
    .join(' ');

/** Adds a provider: `POST /api/providers`, `PUT /api/sso` and `POST /api/tokens`. */
export const providersAdd = command({
  description: `Keys can then be issued for this provider. The registry stores the secret encrypted, never shows it, and never sends it to a station.\n${needed('entra')}. ${needed('okta')}, the address of the organization. ${needed('webauthn').replace('--address', '--address (creation options)')} of a WebAuthn server. ${needed('devmgr')}, the address of the console of this registry, and no secret. ssh needs nothing: hosts ask the registry for its SSH keys, see devmgr ssh-keys.\nEntra ID and Okta can have several purposes; the default is --keys. With --sign-in people sign in there, and --client-id is that of the application; with --people it sends persons over SCIM, with the token that is shown once. Other providers: devmgr providers add oidc, ldap or scim.`,
  args: [
    { name: 'TYPE', help: providerTypes.join(', ') },
    { name: 'NAME', help: 'name of the provider in commands' },
  ],
  flags: {
    'sign-in': { help: 'use it for the sign-in of people' },
    people: { help: 'use it as a source of persons, over SCIM' },
    keys: { help: 'issue keys at it (the default)' },
    ...flagsOf(providerSettings.filter(setting => !providerAddresses.includes(setting))),
    'secret-file': secretFlag,
    ...flagsOf(providerAddresses),
    'client-secret-file': {
      ...fileFlag('with --sign-in: read the client secret; for Entra ID that of --secret-file by default'),
      field: 'clientSecret',
    },
    role: {
      value: 'ROLE',
      many: 'whole',
      field: 'roles',
      help: 'with --sign-in, ROLE=GROUP: members of GROUP have ROLE; can be repeated',
    },
  },
  examples: {
    'Entra ID': `providers add entra company ${samplesOf('entra')} --secret-file secret`,
    'sign-in keys of this registry': 'providers add devmgr accounts --address https://registry.example.com',
    'SSH keys, with PIN and touch': 'providers add ssh ssh --verification pin',
    Okta: 'providers add okta okta --address https://example.okta.com --secret-file token',
    'Okta, for sign-in and people':
      'providers add okta company --sign-in --people --address https://example.okta.com --client-id 0oa1 --client-secret-file secret --role ADMIN=keys-admins',
  },
  async run({ args: [typed = '', name = ''], flags }, context) {
    const type = providerTypes.find(one => one === typed);
    if (type === undefined)
      throw usage(`"${typed}" is not a type of provider: use ${providerTypes.join(', ')}, oidc, ldap or scim`);
    const noChoice = !(flags.signIn || flags.people || flags.keys);
    const wanted = partNames.filter(part => (noChoice ? part === 'keys' : isChosen(part, flags)));
    const issuerOf = signInIssuers[type];
    if (!issuerOf && wanted.some(part => part !== 'keys'))
      throw usage(`a provider of type ${type} can only be used for keys`);
    if (wanted.includes('keys') && flags.secretFile === undefined && !isOwnType(type)) throw noSecret();
    const settings: Settings = Object.fromEntries(providerSettings.map(setting => [setting, flags[setting]]));
    const secret = await secretFrom(context, flags.secretFile);
    const clientSecret = (await secretFrom(context, flags.clientSecretFile)) ?? (type === 'entra' ? secret : undefined);
    const { role, clientId } = flags;
    // Refusals that need no request come before the first change.
    const before = wanted.includes('sign-in') ? await ssoToAdd(context) : null;
    const found = before && issuerOf!(settings, setting => `--${hyphens(setting)}`);
    if (found && 'problem' in found) throw usage(`--sign-in ${found.problem}`);
    const signIn = found && { ...found, clientId, role, clientSecret, name };
    const add: Readonly<Record<PartName, () => Promise<Result>>> = {
      keys: () => addKeys(context, { name, type, ...settings, secret }, before !== null),
      'sign-in': () => setSso(context, before!, signIn!),
      people: () => addScim(context, name),
    };
    const results: Result[] = [];
    for (const part of wanted.toReversed()) {
      results.push(await add[part]());
      if (wanted.length > 1) context.out.notice(`${safe(name)} gives ${part}`);
    }
    await presentSeveral(context, results);
  },
});

/** `isClient`: the client id is that of sign-in; at Okta issuing has none. */
async function addKeys(
  { registry }: Context,
  {
    type,
    clientId,
    ...body
  }: Settings & { readonly type: ProviderType; readonly name: string; readonly secret: string | undefined },
  isClient: boolean,
): Promise<Result> {
  const id = isClient && type === 'okta' ? undefined : clientId;
  const data = await registry.call('createProvider', { body: definedFields({ ...body, type, clientId: id }) });
  return {
    data,
    id: data.providerId,
    title: `${safe(data.providerId)} is added`,
    rows: [
      ['name', safe(data.name)],
      ['type', safe(data.type)],
    ],
    next: `devmgr providers test ${safe(data.name)}`,
  };
}

/** A token with which a provider may send persons, and nothing else. */
const scimToken = { role: 'VIEWER', may: ['scim'] } as const;

async function addScim(context: Context, name: string): Promise<Result> {
  const data = await createToken(context, { name, ...scimToken, expiresInDays: serviceTokenDays.max });
  return {
    data,
    id: data.tokenId,
    title: `${safe(name)} can send persons with this token, which is not shown again`,
    rows: [
      ['token', safe(data.token)],
      ['address', `${context.globals.server ?? ''}/scim/v2`],
    ],
  };
}

/** Adds a provider that sends persons over SCIM: `POST /api/tokens`. Standard output gets the token alone. */
export const scimAdd = command({
  description:
    'Writes the token of the provider to standard output, once: the registry stores only a digest of it. Enter it at the provider, with the address of the registry and /scim/v2. The token can send persons and groups, and nothing else.',
  args: [{ name: 'NAME', help: 'name of the provider in commands' }],
  flags: tokenFlags,
  examples: {
    'a token for the provider, into a file': 'providers add scim company >company.token',
    'from the networks of the provider': 'providers add scim company --allowed-from 198.51.100.0/24',
  },
  async run({ args: [name = ''], flags }, context) {
    const { expiresInDays, allowedFrom } = flags;
    await writeToken(context, await createToken(context, { name, ...scimToken, expiresInDays, allowedFrom }));
  },
});
