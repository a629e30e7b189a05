import type { DirectorySettings } from '../../../../contract/directory.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { yesFlag } from '../../../framework/flags.ts';
import { type CardRow, present } from '../../../framework/present.ts';
import { demandYes } from '../../../terminal/prompt.ts';
import { safe } from '../../../terminal/text.ts';
import { localTime } from '../../../terminal/when.ts';
import { showFindings } from '../../findings.ts';

/** Shows the settings. */
export function showDirectory(
  context: Context,
  settings: DirectorySettings,
  title: string,
  next?: string,
): Promise<void> {
  const { url, base, filter, attributes, groups, bindDn, ca, everyMinutes, fullEveryMinutes, lastRun } = settings;
  const named = Object.entries(attributes).filter(([, attribute]) => typeof attribute === 'string');
  const rows: CardRow[] = [
    ['address', safe(url ?? '')],
    ['base', safe(base ?? '')],
    ['filter', filter === null ? 'the usual class of the server' : safe(filter)],
    ['attributes', named.map(([use, attribute]) => safe(`${use} ${attribute}`)).join(', ') || 'the usual ones'],
    ['groups', groups.map(({ name, dn }) => safe(`${name}: ${dn}`)).join('; ') || 'none'],
    ['signs in as', bindDn === null ? 'anonymous' : safe(bindDn)],
    ['certificates', ca === null ? 'those that Node.js trusts' : 'those of the settings'],
    ['read', `every ${everyMinutes} min, all entries every ${fullEveryMinutes} min`],
    ['last run', lastRun === null ? 'none' : localTime(lastRun.at)],
    ['problem', lastRun?.problem ? safe(lastRun.problem) : null],
  ];
  return present(context, {
    data: settings,
    id: safe(url ?? 'off'),
    title,
    rows: settings.enabled ? rows : [],
    next,
  });
}

/** Shows the settings: `GET /api/directory`. */
export const directoryShow = command({
  examples: [
    { does: 'address, attributes and the last run', line: 'directory show' },
    { does: 'what the last run did, for a script', line: 'directory show --jq .lastRun.counts' },
  ],
  async run(_, context) {
    const settings = await context.registry.call('showDirectory');
    const title = settings.enabled ? 'Persons are read from a directory' : 'No directory is set up';
    await showDirectory(context, settings, title);
  },
});

/** Checks the directory: `POST /api/directory/test`. Exit code 1 if something is wrong. */
export const directoryTest = command({
  description: 'Connects from the daemon, signs in, and reads the first page of entries. Changes nothing.',
  examples: [{ does: 'whether the directory can be read', line: 'directory test' }],
  async run(_, context) {
    const title = 'The directory can be read';
    return showFindings(context, await context.registry.call('testDirectory'), {
      title,
      next: 'devmgr directory sync --dry-run',
    });
  },
});

/** Ends the use of the directory: `PUT /api/directory`. */
export const directoryRemove = command({
  description: 'The directory is no longer read. Persons and their keys do not change.',
  flags: yesFlag,
  examples: [{ does: 'stop reading the directory', line: 'directory remove' }],
  async run({ flags }, context) {
    if (!flags.yes && context.canAsk) await demandYes(context.out, 'Stop reading the directory?');
    const settings = await context.registry.call('setDirectory', { body: { enabled: false } });
    await showDirectory(context, settings, 'No directory is set up');
  },
});
