import { namesIn } from '../../../contract/names.ts';
import { organizationOf, shownProviderSettings } from '../../../contract/provider-fields.ts';
import type { ProviderItem } from '../../../contract/providers.ts';
import { allDifferences, type Differences, repairable } from '../../../fleet/reconcile.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { yesFlag } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { present, presentSeveral, type Result } from '../../framework/present.ts';
import { presentList } from '../../framework/present-list.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { findProvider, partFlags, providerArg } from './flags.ts';
import { noSecret, secretFlag } from './provider-add.ts';
import { isChosen, namedParts, type Part, providerParts } from './provider-parts.ts';

const fields = [
  ...namesIn('providerId name type'),
  ...shownProviderSettings,
  ...namesIn('credentials pending problem createdAt signIn people keys'),
] satisfies readonly (keyof ProviderRow)[];

/** A provider and its purposes. Only one at which keys are issued has an id and settings here. */
interface ProviderRow extends Partial<Omit<ProviderItem, 'type' | 'providerId'>> {
  readonly providerId: string | null;
  readonly name: string;
  readonly type: Part['type'];
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
  { title: 'AT', value: provider => provider.address ?? organizationOf(provider), shorten: 'end', drop: 2 },
  { title: 'CREDENTIALS', value: ({ credentials }) => (credentials === undefined ? null : String(credentials)) },
  {
    title: 'TO REMOVE',
    value: ({ pending }) => (pending === undefined ? null : String(pending)),
    style: ({ pending = 0 }) => (pending === 0 ? null : 'red'),
  },
  { title: 'PROBLEM', value: provider => provider.problem ?? null, shorten: 'end', drop: 1 },
];

/** The row of a provider: all parts that have its name. The first one gives its type. */
function rowOf(parts: readonly [Part, ...Part[]]): ProviderRow {
  const [{ name, type, item }] = parts;
  const problems = parts.flatMap(({ gives, problem }) =>
    problem === null ? [] : [parts.length === 1 ? problem : `${gives}: ${problem}`],
  );
  const has = (gives: Part['gives']) => parts.some(part => part.gives === gives);
  return {
    address: parts.find(({ address }) => address !== null)?.address ?? null,
    ...item,
    ...{ providerId: item?.providerId ?? null, name, type, problem: problems.join('; ') || null },
    ...{ signIn: has('sign-in'), people: has('people'), keys: has('keys') },
  };
}

const none =
  'No providers yet. Add one: devmgr providers add entra|okta|webauthn NAME, or devmgr providers add oidc|ldap|scim NAME';

/** Lists providers: `GET /api/providers/list`, single sign-on, the directory and tokens for SCIM. */
export const providersList = command({
  description: 'Shows the purposes of each provider: sign-in, people and keys. Only an ADMIN sees sign-in and people.',
  flags: listFlags(fields),
  examples: {
    'providers, and what still has to be removed there': 'providers list',
    'those with a problem': `providers list --jq '.list[] | select(.problem)'`,
  },
  async run(_, context) {
    const named = Map.groupBy(await providerParts(context.registry), ({ name }) => name);
    const rows = [...named.values()].map(parts => rowOf(parts as [Part, ...Part[]]));
    // With --quiet ids alone are written: not every provider has one.
    const list = context.out.quiet ? rows.filter(({ providerId }) => providerId !== null) : rows;
    await presentList(context, { list }, { fields, columns, id: 'providerId' }, none);
  },
});

const anyProvider = {
  ...providerArg,
  help: 'name or id of the provider; oidc and ldap are single sign-on and the directory',
} as const;

/** Shows what a provider gives, with its settings. */
export const providersShow = command({
  description: 'Shows the settings of the provider for each of its purposes. Secrets are never shown.',
  args: [anyProvider],
  flags: partFlags,
  examples: {
    'all its purposes': 'providers show company',
    'issuer, groups and roles of single sign-on': 'providers show oidc',
    'the groups of ADMIN, for a script': 'providers show oidc --jq .roles.ADMIN[]',
    'what the last run of the directory did': 'providers show ldap --jq .lastRun.counts',
  },
  async run({ args, flags }, context) {
    const parts = await namedParts(context.registry, args[0]!, flags);
    await presentSeveral(context, await Promise.all(parts.map(part => part.show(context))));
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

/** Tests providers. Exit code 1 if something does not work. */
export const providersTest = command({
  description:
    'Sends a test request to the provider; nothing changes. If the provider has one purpose, all findings are shown. For sign-in, they include the addresses to register at the provider, which are derived from the address of the daemon. Without PROVIDER, all providers are tested. Exit code 1 if one refuses or does not respond.',
  args: [{ ...anyProvider, optional: true }],
  flags: partFlags,
  examples: {
    'all providers': 'providers test',
    'after the secret was changed': 'providers test company',
    'what to register for single sign-on': 'providers test oidc',
  },
  async run({ args: [named], flags }, context) {
    const { registry } = context;
    const parts =
      named === undefined
        ? (await providerParts(registry)).filter(({ gives }) => isChosen(gives, flags))
        : await namedParts(registry, named, flags);
    const [first] = parts;
    if (named !== undefined && parts.length === 1 && first?.test) return first.test(context);
    const list: Tested[] = [];
    for (const part of parts) {
      const problem = await part.check(context);
      list.push({ name: part.name, gives: part.gives, ok: problem === null, problem });
    }
    await presentList(context, { list }, { fields: testedFields, columns: testedColumns, id: 'name' }, none);
    return list.every(({ ok }) => ok) ? exitCodes.done : exitCodes.failure;
  },
});

/** Replaces the secret: `POST /api/providers/{providerId}/secret`. */
export const providersUpdate = command({
  description:
    'Secrets expire. The new one is used from the next request on; credentials stay. Single sign-on and the directory: devmgr providers update oidc or ldap.',
  args: [providerArg],
  flags: { 'secret-file': secretFlag },
  examples: { 'before the old one expires': 'providers update company --secret-file secret' },
  async run({ args, flags }, context) {
    if (flags.secretFile === undefined) throw noSecret();
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    const body = { secret: await secretFrom(context, flags.secretFile) };
    const data = await context.registry.call('setProviderSecret', { params: { providerId }, body });
    const title = `${safe(name)} has a new secret`;
    await present(context, { data, id: providerId, title, rows: [], next: `devmgr providers test ${safe(name)}` });
  },
});

/** Removes what a provider gives. */
export const providersRemove = command({
  description:
    'Removes the provider, or only the purposes that the flags name. The purpose keys is not removed while keys have credentials there, because they cannot be removed without the secret of the provider. If sign-in is removed, its sessions end; the accounts stay, but have no passwords. If people is removed, persons and their devices do not change.',
  args: [anyProvider],
  flags: { ...partFlags, ...yesFlag },
  examples: {
    'remove it': 'providers remove company',
    'turn off single sign-on': 'providers remove oidc',
  },
  async run({ args: [named = ''], flags }, context) {
    const parts = await namedParts(context.registry, named, flags);
    const given = parts.length === 1 ? '' : ` (${parts.map(({ gives }) => gives).join(', ')})`;
    if (!flags.yes && context.canAsk) await demandYes(context.out, `Remove ${safe(parts[0]!.name)}${given}?`);
    const results: Result[] = [];
    // Keys come first: if they are refused, nothing was removed.
    for (const part of parts) results.push(await part.remove(context));
    await presentSeveral(context, results);
  },
});

/** Compares credentials: `POST /api/providers/{providerId}/reconcile`. Exit code 1 if some differ. */
export const providersReconcile = command({
  description:
    'Finds credentials that exist only in the registry or only at the provider, and those that belong to another person. Exit code 1 if differences remain.\nAfter a confirmation, it removes two kinds of credentials from the provider: those of other persons, and those that this registry has created but has no record of. Credentials of other registries, and those that people have added themselves, stay. Credentials that exist only in the registry are marked as removed.',
  args: [providerArg],
  flags: {
    'dry-run': { help: 'show the differences, and change nothing' },
    ...yesFlag,
  },
  examples: {
    'what differs': 'providers reconcile company --dry-run',
    'fix the differences': 'providers reconcile company',
  },
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
