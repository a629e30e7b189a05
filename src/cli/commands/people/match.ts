/** Devices that are bound to a name without a person, and accounts whose name no person has: they are given to persons. */
import { SUCCESS } from '../../../contract/codes.ts';
import { sizes } from '../../../contract/limits.ts';
import type { UnmatchedDevice } from '../../../contract/matching.ts';
import { namesIn } from '../../../contract/names.ts';
import { itemsOf } from '../../client/pages.ts';
import { counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { deviceArg, resolveDevice } from '../../framework/devices/device.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { findPerson, personArg } from '../../framework/persons.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { accountMatches, listAccounts } from './match-accounts.ts';
import { type Match, type MatchKind, readMatches, writeMatches } from './match-file.ts';

const fields = namesIn('deviceId userId candidates') satisfies readonly (keyof UnmatchedDevice)[];
const whyWords = { case: 'several have this name', accents: 'accents', email: 'e-mail address', name: 'full name' };
const columns: Column<UnmatchedDevice>[] = [
  { title: 'DEVICE', value: ({ deviceId }) => deviceId },
  { title: 'BOUND TO', value: ({ userId }) => userId, shorten: 'end', least: 20 },
  {
    title: 'MAY BELONG TO',
    value: ({ candidates }) =>
      candidates.map(({ userName, personId, why }) => `${userName} ${personId} (${whyWords[why] ?? why})`).join(', ') ||
      null,
    shorten: 'end',
  },
];

/** Devices, for `people match`. */
const deviceMatches: MatchKind = {
  what: 'device',
  id: 'deviceId',
  name: 'userId',
  async *unmatched({ registry }) {
    for await (const { deviceId: id, userId: name, candidates } of itemsOf(registry, 'listUnmatched', {}))
      yield { id, name, candidates };
  },
  resolve: (context, named) => resolveDevice(context, named, false),
};

/** `GET /api/people/unmatched` and `POST /api/people/match`. */
export const peopleMatch = command({
  description:
    'A device whose userId is the user name of a person belongs to that person. This command lists the other devices, with the persons to whom they may belong. --apply gives each device with exactly one such person to that person, after a confirmation; with DEVICE and PERSON, it matches only that device.\nFor many devices, --out writes a file to edit, and --file applies it. A row without a person changes nothing, a device that was bound to another name since then is refused, and the file can be applied again after an interruption.\nA matched device shows the user name of the person. An ACTIVE device of a person who has left is locked. --accounts does the same for enabled accounts, so that a leave finds them.',
  args: [
    { ...deviceArg, optional: true },
    { ...personArg, optional: true },
  ],
  flags: {
    apply: { help: 'give the devices to the persons' },
    out: { value: 'FILE', help: 'write all devices and candidates to a new CSV file' },
    file: { value: 'FILE', help: 'apply the matches in a file that --out has written', conflicts: ['out'] },
    'dry-run': { help: 'show what would be matched', conflicts: ['apply', 'out'] },
    accounts: { help: 'match enabled accounts that a leave would not find, because no person has their name' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
    ...pageFlags('devices'),
    ...listFlags(fields),
  },
  examples: {
    'devices without a person, and whose they may be': 'people match',
    'asks, then matches those with one candidate': 'people match --apply',
    'write a file to edit': 'people match --out holders.csv',
    'what a file would match': 'people match --file holders.csv --dry-run',
    'accounts without a person': 'people match --accounts',
    'one account': 'people match USR-4 ada.lovelace --accounts --apply --yes',
    'one device': 'people match DEV-7 ada.lovelace --apply --yes',
  },
  async run({ args, flags }, context) {
    const [device, person] = args;
    if (device !== undefined && person === undefined) throw usage('DEVICE needs a PERSON', 'see: devmgr people match');
    const kind = flags.accounts ? accountMatches : deviceMatches;
    const chosen = async () =>
      device === undefined ? unambiguous(context, kind) : [await named(context, kind, device, person!)];
    if (flags.out !== undefined) return writeMatches(context, kind, flags.out);
    if (flags.file !== undefined) {
      if (device !== undefined)
        throw usage('--file and DEVICE cannot be combined', 'omit DEVICE and PERSON, or --file');
      return fromFile(context, kind, flags.file, { isDraft: !flags.apply, yes: flags.yes ?? false });
    }
    if (flags.dryRun) return draft(context, kind, { matches: await chosen(), refused: [] });
    if (!flags.apply) {
      if (device !== undefined) throw usage(`${kind.what}s are given to a person only with --apply`, 'add --apply');
      if (flags.accounts) return listAccounts(context);
      const page = await context.registry.call('listUnmatched', { query: pageQuery(flags) });
      const listing = { fields, columns, id: 'deviceId' } as const;
      return presentPage(context, page, listing, {
        what: 'devices',
        none: 'Every device that is bound to a name belongs to a person.',
      });
    }
    const matches = await chosen();
    if (matches.length === 0)
      return context.out.notice(`No ${kind.what} has exactly one person that it may belong to.`);
    await confirm(context, kind, matches, flags.yes ?? false);
    return give(context, kind, matches);
  },
});

/** Shows or carries out the matches of a file. Rows that are not carried out are named first. */
async function fromFile(
  context: Context,
  kind: MatchKind,
  file: string,
  { isDraft, yes }: { readonly isDraft: boolean; readonly yes: boolean },
): Promise<number> {
  const read = await readMatches(context, kind, file);
  if (isDraft) return draft(context, kind, read);
  for (const { line, id, message } of read.refused) context.out.warn(safe(`line ${line}: ${id}: ${message}`));
  if (read.matches.length > 0) await confirm(context, kind, read.matches, yes);
  const code = read.matches.length > 0 ? await give(context, kind, read.matches) : exitCodes.done;
  return read.refused.length > 0 ? exitCodes.partial : code;
}

async function draft(
  context: Context,
  kind: MatchKind,
  { matches, refused }: Awaited<ReturnType<typeof readMatches>>,
): Promise<number> {
  const { out, globals } = context;
  for (const { id, personId, words } of matches)
    if (globals.json) await out.row({ [kind.id]: id, personId, status: 'would match' });
    else await out.text(`${safe(words)}\n`);
  for (const { line, id, message } of refused)
    if (globals.json) await out.row({ [kind.id]: id, line, status: 'failed', message });
    else out.warn(safe(`line ${line}: ${id}: ${message}`));
  if (!globals.json)
    out.notice(`${counted(matches.length, kind.what)} would be given to a person; nothing was changed.`);
  return refused.length > 0 ? exitCodes.partial : exitCodes.done;
}

async function named(context: Context, kind: MatchKind, one: string, person: string): Promise<Match> {
  const id = await kind.resolve(context, one);
  const { personId, userName } = await findPerson(context.registry, person);
  return { id, personId, words: `${id} → ${userName} ${personId}` };
}

async function unambiguous(context: Context, kind: MatchKind): Promise<Match[]> {
  const found: Match[] = [];
  for await (const { id, name, candidates } of kind.unmatched(context)) {
    const [only] = candidates;
    if (!only || candidates.length > 1) continue;
    const why = only.why && ` (${whyWords[only.why as keyof typeof whyWords] ?? only.why})`;
    found.push({
      id,
      personId: only.personId,
      words: `${id} (${name}) → ${only.userName} ${only.personId}${why ?? ''}`,
    });
  }
  return found;
}

async function confirm(
  { out, canAsk }: Context,
  kind: MatchKind,
  matches: readonly Match[],
  yes: boolean,
): Promise<void> {
  if (yes) return;
  for (const { words } of matches) out.notice(safe(words));
  const what = counted(matches.length, kind.what);
  if (!canAsk) throw usage(`${what} will be given to persons`, 'add --yes');
  await demandYes(out, `Give ${what} to these persons?`);
}

async function give({ registry, out, globals }: Context, kind: MatchKind, matches: readonly Match[]): Promise<number> {
  let failed = 0;
  for (let at = 0; at < matches.length; at += sizes.batchUpdateItems) {
    const some = matches.slice(at, at + sizes.batchUpdateItems);
    const body = { matches: some.map(({ id, personId }) => ({ [kind.id]: id, personId })) };
    const { results } = await registry.call('matchPeople', { body });
    for (const [i, result] of results.entries()) {
      const isDone = result.code === SUCCESS;
      if (!isDone) failed++;
      if (globals.json) await out.row(result);
      else
        await out.text(
          `${isDone ? '✓' : '✗'} ${safe(isDone ? some[i]!.words : `${some[i]!.id}: ${result.message}`)}\n`,
        );
    }
  }
  if (!globals.json) out.notice(`${counted(matches.length - failed, kind.what)} given to a person.`);
  return failed > 0 ? exitCodes.partial : exitCodes.done;
}
