/** Devices that are bound to a name without a person, and giving them to persons. */
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
import { type Match, readMatches, writeMatches } from './match-file.ts';

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

/** `GET /api/people/unmatched` and `POST /api/people/match`. */
export const peopleMatch = command({
  description:
    'A device whose userId is the user name of a person belongs to that person. This lists the others, with the persons that they may belong to. --apply gives each device with exactly one such person to that person, after a question; with DEVICE and PERSON, only that device. For many devices, --out writes a file to edit, and --file carries it out: a row without a person is left as it is, a device that is bound to another name by then is refused, and the file can be used again after an interruption. The device then shows the user name of the person. An ACTIVE device of a person who has left is locked.',
  args: [
    { ...deviceArg, optional: true },
    { ...personArg, optional: true },
  ],
  flags: {
    apply: { help: 'give the devices to the persons' },
    out: { value: 'FILE', help: 'write all devices and candidates to a new CSV file' },
    file: { value: 'FILE', help: 'the matches of a file that --out has written', conflicts: ['out'] },
    'dry-run': { help: 'show what would be matched', conflicts: ['apply', 'out'] },
    yes: { short: 'y', help: 'do not ask' },
    ...pageFlags('devices'),
    ...listFlags(fields),
  },
  examples: [
    { does: 'devices without a person, and whose they may be', line: 'people match' },
    { does: 'asks, then matches those with one candidate', line: 'people match --apply' },
    { does: 'a file to edit, a look at it, and the matches', line: 'people match --out holders.csv' },
    { does: 'what a file would match', line: 'people match --file holders.csv --dry-run' },
    { does: 'one device', line: 'people match DEV-7 ada.lovelace --apply --yes' },
  ],
  async run({ args, flags }, context) {
    const [device, person] = args;
    if (device !== undefined && person === undefined) throw usage('DEVICE needs a PERSON', 'see: devmgr people match');
    if (flags.out !== undefined) return writeMatches(context, flags.out);
    if (flags.file !== undefined) {
      if (device !== undefined) throw usage('--file names the devices', 'omit DEVICE and PERSON, or --file');
      return fromFile(context, flags.file, { isDraft: !flags.apply, yes: flags.yes ?? false });
    }
    if (flags.dryRun) {
      const matches = device === undefined ? await unambiguous(context) : [await named(context, device, person!)];
      return draft(context, { matches, refused: [] });
    }
    if (!flags.apply) {
      if (device !== undefined) throw usage('a device is given to a person only with --apply', 'add --apply');
      const page = await context.registry.call('listUnmatched', { query: pageQuery(flags) });
      const listing = { fields, columns, id: 'deviceId' } as const;
      return presentPage(context, page, listing, {
        what: 'devices',
        none: 'Every device that is bound to a name belongs to a person.',
      });
    }
    const matches = device === undefined ? await unambiguous(context) : [await named(context, device, person!)];
    if (matches.length === 0) return context.out.notice('No device has exactly one person that it may belong to.');
    await confirm(context, matches, flags.yes ?? false);
    return give(context, matches);
  },
});

/** Shows or carries out the matches of a file. Rows that are not carried out are named first. */
async function fromFile(
  context: Context,
  file: string,
  { isDraft, yes }: { readonly isDraft: boolean; readonly yes: boolean },
): Promise<number> {
  const read = await readMatches(context, file);
  if (isDraft) return draft(context, read);
  for (const { line, deviceId, message } of read.refused)
    context.out.warn(safe(`line ${line}: ${deviceId}: ${message}`));
  if (read.matches.length > 0) await confirm(context, read.matches, yes);
  const code = read.matches.length > 0 ? await give(context, read.matches) : exitCodes.done;
  return read.refused.length > 0 ? exitCodes.partial : code;
}

async function draft(context: Context, { matches, refused }: Awaited<ReturnType<typeof readMatches>>): Promise<number> {
  const { out, globals } = context;
  for (const { deviceId, personId, words } of matches)
    if (globals.json) await out.row({ deviceId, personId, status: 'would match' });
    else await out.text(`${safe(words)}\n`);
  for (const { line, deviceId, message } of refused)
    if (globals.json) await out.row({ deviceId, line, status: 'failed', message });
    else out.warn(safe(`line ${line}: ${deviceId}: ${message}`));
  if (!globals.json)
    out.notice(`${counted(matches.length, 'device')} would be given to a person; nothing was changed.`);
  return refused.length > 0 ? exitCodes.partial : exitCodes.done;
}

async function named(context: Context, device: string, person: string): Promise<Match> {
  const deviceId = await resolveDevice(context, device, false);
  const { personId, userName } = await findPerson(context.registry, person);
  return { deviceId, personId, words: `${deviceId} → ${userName} ${personId}` };
}

async function unambiguous({ registry }: Context): Promise<Match[]> {
  const found: Match[] = [];
  for await (const { deviceId, userId, candidates } of itemsOf(registry, 'listUnmatched', {})) {
    const [only] = candidates;
    if (only && candidates.length === 1)
      found.push({
        deviceId,
        personId: only.personId,
        words: `${deviceId} (${userId}) → ${only.userName} ${only.personId} (${whyWords[only.why] ?? only.why})`,
      });
  }
  return found;
}

async function confirm({ out, canAsk }: Context, matches: readonly Match[], yes: boolean): Promise<void> {
  if (yes) return;
  for (const { words } of matches) out.notice(safe(words));
  const what = `${counted(matches.length, 'device')}`;
  if (!canAsk) throw usage(`${what} will be given to persons`, 'add --yes');
  await demandYes(out, `Give ${what} to these persons?`);
}

async function give({ registry, out, globals }: Context, matches: readonly Match[]): Promise<number> {
  let failed = 0;
  for (let at = 0; at < matches.length; at += sizes.batchUpdateItems) {
    const some = matches.slice(at, at + sizes.batchUpdateItems);
    const body = { matches: some.map(({ deviceId, personId }) => ({ deviceId, personId })) };
    const { results } = await registry.call('matchPeople', { body });
    for (const [i, result] of results.entries()) {
      const isDone = result.code === SUCCESS;
      if (!isDone) failed++;
      if (globals.json) await out.row(result);
      else
        await out.text(
          `${isDone ? '✓' : '✗'} ${safe(isDone ? some[i]!.words : `${some[i]!.deviceId}: ${result.message}`)}\n`,
        );
    }
  }
  if (!globals.json) out.notice(`${counted(matches.length - failed, 'device')} given to a person.`);
  return failed > 0 ? exitCodes.partial : exitCodes.done;
}
