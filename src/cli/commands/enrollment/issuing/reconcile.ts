import { allDifferences, type Differences, repairable } from '../../../../fleet/reconcile.ts';
import { exitCodes } from '../../../exit-codes.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { yesFlag } from '../../../framework/flags.ts';
import { demandYes } from '../../../terminal/prompt.ts';
import { safe } from '../../../terminal/text.ts';
import { findProvider, providerArg } from './flags.ts';

/** Compares credentials: `POST /api/providers/{providerId}/reconcile`. Exit code 1 if some differ. */
export const idpReconcile = command({
  description:
    'Finds credentials that exist only in the registry or only at the provider, and those that belong to another person. Changes nothing without --apply. Exit code 1 if differences remain.\n--apply removes from the provider the credentials of other persons, and those that the registry lacks if a registry has created them; credentials that people have added themselves stay. Credentials that exist only in the registry are marked as removed.',
  args: [providerArg],
  flags: {
    apply: { help: 'fix the differences, after a confirmation' },
    ...yesFlag,
  },
  examples: [
    { does: 'what differs', line: 'idp reconcile company' },
    { does: 'fix the differences', line: 'idp reconcile company --apply' },
  ],
  async run({ args, flags }, context) {
    const { out } = context;
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    const found = await compare(context, providerId, false);
    const total = repairable(found);
    if (flags.apply && total > 0) {
      if (!out.json) await show(context, found);
      if (!flags.yes && context.canAsk) await demandYes(out, `Fix ${total} at ${safe(name)}?`);
      await compare(context, providerId, true);
      if (out.json) return out.document({ ...found, applied: true });
      return out.notice(`${total} fixed at ${safe(name)}.`);
    }
    if (out.json) await out.document({ ...found, applied: false });
    else await show(context, found);
    if (total === 0) return exitCodes.done;
    if (!out.json) out.notice(`${out.tint('cyan', 'Next:')} devmgr idp reconcile ${safe(name)} --apply`);
    return exitCodes.failure;
  },
});

const compare = ({ registry }: Context, providerId: string, apply: boolean): Promise<Differences> =>
  allDifferences(body => registry.call('reconcileProvider', { params: { providerId }, body }), apply);

async function show({ out }: Context, { onlyHere, onlyThere, otherPerson }: Differences): Promise<void> {
  const lines = [
    ...onlyHere.map(one => `${safe(one.credentialId)} of ${safe(one.deviceId)} is missing at the provider`),
    ...otherPerson.map(one => `${safe(one.credentialId)} of ${safe(one.deviceId)} belongs to another person`),
    ...onlyThere.map(
      ({ account, remoteId, label, removable }) =>
        `${safe(remoteId)} of ${safe(account)}${label === null ? '' : ` (${safe(label)})`} exists only at the provider${removable === true ? '' : ', and was not created by a registry: it stays'}`,
    ),
  ];
  await out.prose(lines.length === 0 ? 'Registry and provider agree.' : lines.join('\n'));
}
