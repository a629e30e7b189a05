/** Compares persons with the identity provider from which they came. */
import type { DataOf } from '../../../contract/define.ts';
import { namesIn } from '../../../contract/names.ts';
import type { Routes } from '../../../contract/routes.ts';
import { count, counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { Fault, usage } from '../../fault.ts';
import { command } from '../../framework/define.ts';
import { listFlags } from '../../framework/format.ts';
import { presentList } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';

type Item = DataOf<Routes['comparePeople']>['list'][number];

const fields = namesIn('personId userName why outcome') satisfies readonly (keyof Item)[];
const columns: Column<Item>[] = [
  { title: 'PERSON', value: ({ personId }) => personId },
  { title: 'USER NAME', value: ({ userName }) => userName, shorten: 'end', least: 16 },
  { title: 'AT THE PROVIDER', value: ({ why }) => why },
  { title: 'HERE', value: ({ outcome }) => outcome },
];

/** `POST /api/people/drift`. */
export const peopleDrift = command({
  description:
    'Reads the users of Entra ID and Okta, and lists the active persons from SCIM who are gone or disabled there: the request that reports their leave was refused or never arrived. --apply shows them, asks, and records that they leave; the brake applies. A directory is compared at each full run: devmgr providers sync.',
  flags: {
    apply: { help: 'record that these persons leave' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
    ...listFlags(fields),
  },
  examples: {
    'who is active here but not at the provider': 'people drift',
    'record that they leave, after a confirmation': 'people drift --apply',
  },
  async run({ flags }, context) {
    const { registry, out } = context;
    const found = await registry.call('comparePeople', { body: {} });
    if (found.problem !== null)
      throw new Fault('failure', safe(found.problem), 'see: devmgr providers list, or providers add');
    const listing = { fields, columns, id: 'personId' } as const;
    const none = 'Every active person of SCIM is enabled at the provider.';
    if (!flags.apply || found.total === 0) return presentList(context, found, listing, none);
    if (!flags.yes) {
      for (const { personId, userName, why } of found.list) out.notice(safe(`${personId} ${userName}: ${why}`));
      if (found.total > found.list.length) out.notice(`and ${count(found.total - found.list.length)} more`);
      if (!context.canAsk) throw usage(`${counted(found.total, 'person', 'persons')} will leave`, 'add --yes');
      await demandYes(out, `Record that ${counted(found.total, 'person', 'persons')} left?`);
    }
    const done = await registry.call('comparePeople', { body: { apply: true } });
    if (done.problem !== null) throw new Fault('failure', safe(done.problem), 'see: devmgr providers list');
    await presentList(context, done, listing, none);
    return done.list.some(({ outcome }) => outcome === 'held') ? exitCodes.partial : exitCodes.done;
  },
});
