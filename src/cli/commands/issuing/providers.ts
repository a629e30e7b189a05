import { namesIn } from '../../../contract/names.ts';
import {
  neededOf,
  type ProviderField,
  type ProviderSetting,
  providerAddresses,
  providerFields,
  providerSettings,
  shownProviderSettings,
} from '../../../contract/provider-fields.ts';
import type { ProviderItem } from '../../../contract/providers.ts';
import { type ProviderType, providerTypes } from '../../../contract/values.ts';
import { allDifferences, type Differences, repairable } from '../../../fleet/reconcile.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { fileFlag, type Hyphens, hyphens, yesFlag } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { present } from '../../framework/present.ts';
import { presentList } from '../../framework/present-list.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { findProvider, providerArg } from './flags.ts';
import { type Door, providerDoors } from './provider-doors.ts';

const fields = [
  ...namesIn('providerId name type'),
  ...shownProviderSettings,
  ...namesIn('credentials pending problem createdAt signIn people keys'),
] satisfies readonly (keyof ProviderRow)[];

/** A provider, and what it gives. Only one at which keys are issued has an id and settings here. */
interface ProviderRow extends Partial<Omit<ProviderItem, 'type' | 'providerId'>> {
  readonly providerId: string | null;
  readonly name: string;
  readonly type: ProviderItem['type'] | Door['type'];
  readonly signIn: boolean;
  readonly people: boolean;
  readonly keys: boolean;
}

const yes = (gives: boolean): string | null => (gives ? 'yes' : null);

const columns: Column<ProviderRow>[] = [
  { title: 'NAME', value: provider => provider.name, shorten: 'end' },
  { title: 'TYPE', value: provider => provider.type },
  { title: 'SIGN-IN', value: ({ signIn }) => yes(signIn) },
  { title: 'PEOPLE', value: ({ people }) => yes(people) },
  { title: 'KEYS', value: ({ keys }) => yes(keys) },
  { title: 'PROVIDER', value: provider => provider.providerId, drop: 3 },
  { title: 'AT', value: ({ address, tenant }) => address ?? tenant ?? null, shorten: 'end', drop: 2 },
  { title: 'CREDENTIALS', value: ({ credentials }) => (credentials === undefined ? null : String(credentials)) },
  {
    title: 'TO REMOVE',
    value: ({ pending }) => (pending === undefined ? null : String(pending)),
    style: ({ pending = 0 }) => (pending === 0 ? null : 'red'),
  },
  { title: 'PROBLEM', value: provider => provider.problem ?? null, shorten: 'end', drop: 1 },
];

const rowOf = ({ name, type, address, problem, gives }: Door): ProviderRow => {
  const [signIn, people] = [gives === 'signIn', gives === 'people'];
  return { providerId: null, name, type, address, problem, signIn, people, keys: false };
};

/** Lists providers: `GET /api/providers/list`, single sign-on, the directory and tokens for SCIM. */
export const providersList = command({
  description:
    'Shows what each provider gives: sign-in (devmgr sso), people (devmgr directory, or a token for SCIM) and keys (devmgr providers add). Those without an id are seen by an ADMIN.',
  flags: listFlags(fields),
  examples: [
    { does: 'providers, and what still has to be removed there', line: 'providers list' },
    { does: 'those with a problem', line: `providers list --jq '.list[] | select(.problem)'` },
  ],
  async run(_, context) {
    const data = await context.registry.call('listProviders');
    const none = 'No providers yet. Add one: devmgr providers add entra|okta|webauthn NAME';
    const issuing = data.list.map((item): ProviderRow => ({ ...item, signIn: false, people: false, keys: true }));
    // With --quiet ids alone are written: the others have none.
    const others = context.out.quiet ? [] : (await providerDoors(context.registry)).map(rowOf);
    await presentList(context, { ...data, list: [...issuing, ...others] }, { fields, columns, id: 'providerId' }, none);
  },
});

const secretFlag = {
  ...fileFlag('read the client secret, API token or bearer token from the first line of a file; - is standard input'),
  field: 'secret',
} as const;
const noSecret = () => usage('the secret is missing', 'write it to a file: --secret-file FILE');

const flagsOf = (settings: readonly ProviderSetting[]) =>
  Object.fromEntries(
    settings.map(setting => {
      const { description, help = description, isAddress }: ProviderField = providerFields[setting];
      return [hyphens(setting), { value: isAddress ? 'URL' : 'ID', help }];
    }),
  ) as Readonly<Record<Hyphens<ProviderSetting>, { readonly value: string; readonly help: string }>>;
const needed = (type: ProviderType) => neededOf(type, setting => `--${hyphens(setting)}`);

/** Adds a provider: `POST /api/providers`. */
export const providersAdd = command({
  description: `Keys can then be issued for this provider. The registry stores the secret encrypted, never shows it, and never sends it to a station.\n${needed('entra')}. ${needed('okta')}, the address of the organization. ${needed('webauthn').replace('--address', '--address (creation options)')} of a WebAuthn server. ${needed('devmgr')}, the address of the console of this registry, and no secret.`,
  args: [
    { name: 'TYPE', help: providerTypes.join(', ') },
    { name: 'NAME', help: 'name of the provider in commands' },
  ],
  flags: {
    ...flagsOf(providerSettings.filter(setting => !providerAddresses.includes(setting))),
    'secret-file': secretFlag,
    ...flagsOf(providerAddresses),
  },
  examples: [
    {
      does: 'Entra ID',
      line: 'providers add entra company --tenant example.onmicrosoft.com --client-id 5f1c --secret-file secret',
    },
    {
      does: 'sign-in keys of this registry',
      line: 'providers add devmgr accounts --address https://registry.example.com',
    },
    { does: 'Okta', line: 'providers add okta okta --address https://example.okta.com --secret-file token' },
  ],
  async run({ args: [typed = '', name = ''], flags }, context) {
    const type = providerTypes.find(one => one === typed);
    if (type === undefined) throw usage(`"${typed}" is not a type of provider: use ${providerTypes.join(', ')}`);
    if (flags.secretFile === undefined && type !== 'devmgr') throw noSecret();
    const settings = Object.fromEntries(providerSettings.map(setting => [setting, flags[setting]]));
    const body = definedFields({ name, type, ...settings, secret: await secretFrom(context, flags.secretFile) });
    const data = await context.registry.call('createProvider', { body });
    await present(context, {
      data,
      id: data.providerId,
      title: `${safe(data.providerId)} is added`,
      rows: [
        ['name', safe(data.name)],
        ['type', safe(data.type)],
      ],
      next: `devmgr providers test ${safe(data.name)}`,
    });
  },
});

interface Tested {
  readonly name: string;
  readonly gives: string;
  readonly ok: boolean;
  readonly problem: string | null;
}
const testedFields = namesIn('name gives ok problem') satisfies readonly (keyof Tested)[];
const testedColumns: Column<Tested>[] = [
  { title: 'NAME', value: ({ name }) => name, shorten: 'end' },
  { title: 'GIVES', value: ({ gives }) => gives },
  { title: 'STATE', value: ({ ok }) => (ok ? 'works' : 'FAILED'), style: ({ ok }) => (ok ? 'green' : 'red') },
  { title: 'PROBLEM', value: ({ problem }) => problem, shorten: 'end' },
];

/** Tests all that the named provider gives, or all providers, and shows a line for each; null if it only gives keys. */
async function testedDoors(context: Context, named: string | undefined): Promise<number | null> {
  const { registry } = context;
  const isNamed = ({ name, providerId }: { readonly name: string; readonly providerId?: string }) =>
    named === undefined || name === named || providerId === named;
  const doors = (await providerDoors(registry)).filter(isNamed);
  if (named !== undefined && doors.length === 0) return null;
  const rows: Tested[] = [];
  for (const { providerId, name } of (await registry.call('listProviders')).list.filter(isNamed)) {
    const { reachable, problem } = await registry.call('testProvider', { params: { providerId } });
    rows.push({ name, gives: 'keys', ok: reachable === true, problem });
  }
  for (const { name, gives, problem: known, test } of doors) {
    const problem = test === null ? known : await test();
    rows.push({ name, gives: gives === 'signIn' ? 'sign-in' : gives, ok: problem === null, problem });
  }
  const listing = { fields: testedFields, columns: testedColumns, id: 'name' } as const;
  await presentList(
    context,
    { list: rows },
    listing,
    'No providers yet. Add one: devmgr providers add entra|okta|webauthn NAME',
  );
  return rows.every(({ ok }) => ok) ? exitCodes.done : exitCodes.failure;
}

/** Checks a provider: `POST /api/providers/{providerId}/test`. Exit code 1 if it does not work. */
export const providersTest = command({
  description:
    'Asks the provider, without a change, whether what it gives works: keys, and sign-in and people that have its name. Without PROVIDER it asks all. Exit code 1 if one refuses or does not respond.',
  args: [{ ...providerArg, optional: true }],
  examples: [
    { does: 'all providers', line: 'providers test' },
    { does: 'after the secret was changed', line: 'providers test company' },
  ],
  async run({ args }, context) {
    const others = await testedDoors(context, args[0]);
    if (others !== null) return others;
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    const data = await context.registry.call('testProvider', { params: { providerId } });
    await present(context, {
      data,
      id: providerId,
      title: `${safe(name)} ${data.reachable === true ? 'accepts requests of this registry' : 'does not work'}`,
      rows: [['problem', safe(data.problem)]],
    });
    return data.reachable === true ? exitCodes.done : exitCodes.failure;
  },
});

/** Replaces the secret: `POST /api/providers/{providerId}/secret`. */
export const providersUpdate = command({
  description: 'Secrets expire. The new one is used from the next request on; credentials stay.',
  args: [providerArg],
  flags: { 'secret-file': secretFlag },
  examples: [{ does: 'before the old one expires', line: 'providers update company --secret-file secret' }],
  async run({ args, flags }, context) {
    if (flags.secretFile === undefined) throw noSecret();
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    const body = { secret: await secretFrom(context, flags.secretFile) };
    const data = await context.registry.call('setProviderSecret', { params: { providerId }, body });
    const title = `${safe(name)} has a new secret`;
    await present(context, { data, id: providerId, title, rows: [], next: `devmgr providers test ${safe(name)}` });
  },
});

/** Removes a provider: `POST /api/providers/{providerId}/remove`. */
export const providersRemove = command({
  description: 'Refused while keys have credentials there: they cannot be removed without the secret of the provider.',
  args: [providerArg],
  flags: yesFlag,
  examples: [{ does: 'remove it', line: 'providers remove company' }],
  async run({ args, flags }, context) {
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    if (!flags.yes && context.canAsk) await demandYes(context.out, `Remove ${safe(name)}?`);
    const data = await context.registry.call('removeProvider', { params: { providerId } });
    await present(context, { data, id: providerId, title: `${safe(name)} is removed`, rows: [] });
  },
});

/** Compares credentials: `POST /api/providers/{providerId}/reconcile`. Exit code 1 if some differ. */
export const providersReconcile = command({
  description:
    'Finds credentials that exist only in the registry or only at the provider, and those that belong to another person. Exit code 1 if differences remain.\nAfter a confirmation it removes from the provider the credentials of other persons, and those that the registry lacks if it has created them; credentials of other registries, and those that people have added themselves, stay. Credentials that exist only in the registry are marked as removed.',
  args: [providerArg],
  flags: {
    'dry-run': { help: 'show the differences, and change nothing' },
    ...yesFlag,
  },
  examples: [
    { does: 'what differs', line: 'providers reconcile company --dry-run' },
    { does: 'fix the differences', line: 'providers reconcile company' },
  ],
  async run({ args, flags }, context) {
    const { out } = context;
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    const found = await differencesAt(context, providerId, false);
    const total = repairable(found);
    if (!flags.dryRun && total > 0) {
      if (!out.json) await showDifferences(context, found);
      if (!flags.yes && context.canAsk) await demandYes(out, `Fix ${total} at ${safe(name)}?`);
      await differencesAt(context, providerId, true);
      if (out.json) return out.document({ ...found, applied: true });
      return out.notice(`${total} fixed at ${safe(name)}.`);
    }
    if (out.json) await out.document({ ...found, applied: false });
    else await showDifferences(context, found);
    if (total === 0) return exitCodes.done;
    if (!out.json) out.notice(`${out.tint('cyan', 'Next:')} devmgr providers reconcile ${safe(name)}`);
    return exitCodes.failure;
  },
});

const differencesAt = ({ registry }: Context, providerId: string, apply: boolean): Promise<Differences> =>
  allDifferences(body => registry.call('reconcileProvider', { params: { providerId }, body }), apply);

async function showDifferences({ out }: Context, { onlyHere, onlyThere, otherPerson }: Differences): Promise<void> {
  const lines = [
    ...onlyHere.map(one => `${safe(one.credentialId)} of ${safe(one.deviceId)} is missing at the provider`),
    ...otherPerson.map(one => `${safe(one.credentialId)} of ${safe(one.deviceId)} belongs to another person`),
    ...onlyThere.map(
      ({ account, remoteId, label, removable }) =>
        `${safe(remoteId)} of ${safe(account)}${label === null ? '' : ` (${safe(label)})`} exists only at the provider${removable === true ? '' : ', and was not created by this registry: it stays'}`,
    ),
  ];
  await out.prose(lines.length === 0 ? 'Registry and provider agree.' : lines.join('\n'));
}
