import { allDifferences, type Differences, repairable } from '../../../../fleet/reconcile.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { confirm } from '../../../terminal/prompt.ts';
import { safe } from '../../../terminal/text.ts';
import { findProvider, providerArg } from './find-provider.ts';

/** Compares credentials: `POST /api/providers/{providerId}/reconcile`. Exit code 1 if some differ. */
export const idpReconcile = command({
  description:
    'Finds credentials that only the registry or only the provider has, and those of other persons. Without --apply nothing changes. Exit code 1 if something differs and was not repaired.\n--apply removes credentials of other persons at the provider, and those that only the provider has if a registry has made them: what people have added themselves stays. What only the registry has is marked as removed.',
  args: [providerArg],
  flags: {
    apply: { help: 'repair what differs, after a confirmation' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
  },
  examples: [
    { does: 'what differs', line: 'idp reconcile company' },
    { does: 'repair it', line: 'idp reconcile company --apply' },
  ],
  async run({ args, flags }, context) {
    const { out } = context;
    const { providerId, name } = await findProvider(context.registry, args[0]!);
    const found = await compare(context, providerId, false);
    const total = repairable(found);
    if (flags.apply && total > 0) {
      if (!out.json) await show(context, found);
      if (!flags.yes && context.canAsk && !(await confirm(out, `Repair ${total} at ${safe(name)}?`)))
        throw usage('not confirmed: nothing was changed');
      await compare(context, providerId, true);
      if (out.json) return out.document({ ...found, applied: true });
      return out.notice(`${total} repaired at ${safe(name)}.`);
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
    ...otherPerson.map(one => `${safe(one.credentialId)} of ${safe(one.deviceId)} signs in another person`),
    ...onlyThere.map(
      ({ account, remoteId, label, removable }) =>
        `${safe(remoteId)} of ${safe(account)}${label === null ? '' : ` (${safe(label)})`} is only at the provider${removable === true ? '' : ', and was not made by a registry: it stays'}`,
    ),
  ];
  await out.prose(lines.length === 0 ? 'Registry and provider agree.' : lines.join('\n'));
}
