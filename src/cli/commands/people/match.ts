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
    'A device whose userId is the user name of a person belongs to that person. This lists the others, with the persons that they may belong to. --apply gives each device with exactly one such person to that person, after a question; with DEVICE and PERSON, only that device. The device then shows the user name of the person. An ACTIVE device of a person who has left is locked.',
  args: [
    { ...deviceArg, optional: true },
    { ...personArg, optional: true },
  ],
  flags: {
    apply: { help: 'give the devices to the persons' },
    yes: { short: 'y', help: 'do not ask' },
    ...pageFlags('devices'),
    ...listFlags(fields),
  },
  examples: [
    { does: 'devices without a person, and whose they may be', line: 'people match' },
    { does: 'asks, then matches those with one candidate', line: 'people match --apply' },
    { does: 'one device', line: 'people match DEV-7 ada.lovelace --apply --yes' },
  ],
  async run({ args, flags }, context) {
    const [device, person] = args;
    if (device !== undefined && person === undefined) throw usage('DEVICE needs a PERSON', 'see: devmgr people match');
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

interface Match {
  readonly deviceId: string;
  readonly personId: string;
  readonly words: string;
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
