import type { DataOf } from '../../../contract/define.ts';
import type { Key } from '../../../contract/hardware.ts';
import type { CredentialItem } from '../../../contract/providers.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { IssueOutcome } from '../../../enrollment/issue-events.ts';
import { askedReset, eraseKey } from '../../../enrollment/key-reset.ts';
import { columnOf } from '../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../enrollment/registry.ts';
import { counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { errorWords, Fault, failure, usage } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { registeredDevice } from '../../framework/devices/registration.ts';
import { type FlagValues, fileFlag, yesFlag } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { attachedKeys } from '../proofs/verify.ts';
import { issueFlags } from './flags.ts';
import { faultOf, type IssuePlan, issuePlan, issueRequests, whileIssuing, wordsOf } from './issuing.ts';
import { letterFlags, letterOf, type PrintLetter } from './letter.ts';
import { digitsOf } from './sealed-pin.ts';
import { demandNoSshFile, writeSshFiles } from './ssh-files.ts';

/** Issues an attached key: the only command that sends a PIN to it. */
export const keysIssue = command({
  description:
    'Registers the key at the providers, so that its holder can sign in with it. The device must be ACTIVE. The key needs one touch for each provider, and one more at the start if the registry recognizes it by a credential.\nYou are asked for the PIN of the key, or for a new PIN if it has none. A wrong PIN is tried only once. The PIN is neither stored nor logged.\n--pin random creates the first PIN and stores it encrypted for the recipients that the policy names; they open it with devmgr keys letter. With --printer, its letter is printed once.\n--pin none sets no PIN. A key without a PIN is then refused if the provider requires user verification.\nAfter an interruption, run the same command again: it completes the rest. Exit code 7: issued at some of the providers, and not at others.',
  args: [
    {
      name: 'KEY',
      help: 'serial number, deviceId or keyId of an attached key; by default the only one',
      optional: true,
      offer: 'key',
    },
  ],
  flags: {
    ...issueFlags,
    reset: { help: 'erase the key first, with its PIN and all its credentials' },
    'ssh-file': fileFlag('write the files that ssh needs for an SSH key: FILE and FILE.pub; neither is secret'),
    ...yesFlag,
    ...letterFlags,
  },
  examples: {
    'the attached key, for one provider': 'keys issue --provider company',
    'with a PIN that the person replaces': 'keys issue --provider company --change-pin',
    'with a random PIN, printed for the person': 'keys issue --provider company --pin random --printer 10.0.0.9',
    'an SSH key, with the files for ssh': 'keys issue --provider ssh --ssh-file id_ed25519_sk',
    'one of several keys, for two': 'keys issue UK-2026-000001 --provider company,okta',
  },
  async run({ args, flags }, context) {
    if (flags.provider.length === 0)
      throw usage('no provider is named', 'name it: --provider NAME; see: devmgr providers list');
    if (flags.printer !== undefined && digitsOf(flags.pin) === null)
      throw usage('--printer prints only a PIN that this command creates', 'add --pin random');
    if (flags.sshFile !== undefined) demandNoSshFile(flags.sshFile);
    const print = letterOf(context, flags);
    const plan = await issuePlan(context, flags);
    const [key] = await attachedKeys(context, args[0] === undefined ? [] : [args[0]]);
    const deviceId = await activeDevice(context, key!, flags.reset);
    const outcome = await whileIssuing(context, key!, async () => {
      if (flags.reset)
        await resetKey(context, key!, deviceId, flags.yes).catch(error => {
          throw faultOf(error, deviceId);
        });
      return plan.open().issue(key!, deviceId);
    });
    const { wasIssued, madePin } = outcome;
    const letterProblem = madePin === null ? null : await printed(print, deviceId, madePin);
    if (outcome.error !== null) {
      if (letterProblem !== null) notify(context, safe(wordsOf(letterProblem)));
      await presentMissing(context, { key: key!, deviceId, plan, flags, outcome, isLettered: print !== null });
      return exitCodes.partial;
    }
    if (outcome.lacksRules) notify(context, 'This key keeps no rules for its PIN: tell the person what to choose.');
    const credentials = (await credentialsOf(context, deviceId)).filter(({ removedAt }) => removedAt === null);
    if (flags.sshFile !== undefined) writeFiles(context, flags.sshFile, plan, credentials);
    await present(context, {
      data: { deviceId, serialNumber: key!.serialNumber, credentials },
      id: deviceId,
      title: `${safe(key!.serialNumber)} ${wasIssued ? 'was already issued' : 'is issued'}`,
      rows: plan.providers.map(({ providerId, name }) => {
        const one = credentials.find(credential => credential.providerId === providerId);
        return [safe(name), one?.createdAt ? `${safe(one.person)}, since ${localTime(one.createdAt)}` : null];
      }),
      ...(madePin !== null && print === null
        ? { next: `devmgr keys letter ${safe(deviceId)} --identity-file FILE` }
        : {}),
    });
    if (letterProblem !== null) throw letterProblem;
    return exitCodes.done;
  },
});

/** Of the first SSH key among the providers. */
function writeFiles(
  context: Context,
  file: string,
  { providers }: IssuePlan,
  credentials: readonly CredentialItem[],
): void {
  const found = credentials.find(one => one.ssh && providers.some(({ providerId }) => providerId === one.providerId));
  if (!found?.ssh) throw failure('none of these providers has SSH keys', 'add one: devmgr providers add ssh NAME');
  writeSshFiles(file, found.ssh, safe(found.person).replaceAll(/\s/g, '_'));
  notify(context, `ssh -i ${file} uses the key; ${file}.pub is its public key.`);
}

/** A key that is not issued everywhere. */
interface MissingIssue {
  readonly key: NumberedKey;
  readonly deviceId: string;
  readonly plan: IssuePlan;
  readonly flags: Pick<FlagValues<typeof issueFlags>, 'provider' | 'changePin' | 'minPin'>;
  readonly outcome: IssueOutcome;
  /** Whether a PIN that was made is printed. */
  readonly isLettered: boolean;
}

/** Shows where the key is issued, its PIN, and how to continue. Throws the error if the key is issued at no provider, or at all of them. */
async function presentMissing(context: Context, missing: MissingIssue): Promise<void> {
  const { key, deviceId, plan, flags, outcome, isLettered } = missing;
  const { providers, errors, error, pin, leavesRules, madePin } = outcome;
  const rules = [flags.changePin && '--change-pin', flags.minPin !== undefined && `--min-pin ${flags.minPin}`].filter(
    flag => flag !== false,
  );
  const open = leavesRules ? `${rules.join(' and ')} not applied: that is the last step, after all providers` : null;
  const isIssued = (one: IssuePlan['providers'][number]) => providers[columnOf(one)] === 'issued';
  const issued = plan.providers.filter(isIssued).length;
  if (issued === 0 || issued === plan.providers.length || context.io.interrupt.aborted) {
    for (const line of [pin && pinWords[pin], open]) if (line) notify(context, `${safe(key.serialNumber)}: ${line}.`);
    throw faultOf(error, deviceId);
  }
  const reasonOf = (one: IssuePlan['providers'][number]) => wordsOf(faultOf(errors[columnOf(one)] ?? error, deviceId));
  const lacking = plan.providers.filter(one => !isIssued(one));
  await present(context, {
    data: {
      deviceId,
      serialNumber: key.serialNumber,
      credentials: (await credentialsOf(context, deviceId)).filter(({ removedAt }) => removedAt === null),
      missing: lacking.map(one => ({ providerId: one.providerId, name: one.name, reason: reasonOf(one) })),
      pin,
      rulesApplied: !leavesRules,
    },
    id: deviceId,
    title: `${safe(key.serialNumber)} is not issued everywhere`,
    rows: [
      ...plan.providers.map(
        one => [safe(one.name), isIssued(one) ? 'issued' : `missing: ${safe(reasonOf(one))}`] as const,
      ),
      ['PIN', pin && pinWords[pin]],
      ['letter', madePin === null || isLettered ? null : `devmgr keys letter ${safe(deviceId)} --identity-file FILE`],
      ['rules', open],
    ],
    next: safe(['devmgr keys issue', deviceId, '--provider', flags.provider.join(','), ...rules].join(' ')),
  });
}

const pinWords = {
  set: 'the PIN is set: enter it when you continue',
  present: 'the key had a PIN, which is unchanged',
  none: 'the key has no PIN',
} as const;

/** Prints the letter of a PIN. Resolves to why it is not printed: the key is issued all the same, because its PIN is stored. */
async function printed(print: PrintLetter | null, deviceId: string, pin: string): Promise<Fault | null> {
  try {
    await print?.(deviceId, pin);
    return null;
  } catch (error) {
    return new Fault(
      'hardware',
      `the key is issued, but the letter of its PIN is not printed: ${errorWords(error)}`,
      `an ADMIN prints it: devmgr keys letter ${deviceId} --identity-file FILE --printer HOST`,
    );
  }
}

const credentialsOf = (context: Context, deviceId: string): Promise<DataOf<Routes['listCredentials']>> =>
  context.registry.call('listCredentials', { params: { deviceId } });

async function activeDevice(context: Context, key: Key, isReset: boolean): Promise<string> {
  const device = await registeredDevice(context, key, isReset);
  if (device === null)
    throw new Fault('absent', `the key ${key.serialNumber} is not registered`, 'register it: devmgr enroll');
  if (device.status === 'ACTIVE') return device.deviceId;
  throw failure(
    `${device.deviceId} is ${device.status}: only ACTIVE devices can be issued`,
    device.status === 'INACTIVE' ? `bind it: devmgr activate ${device.deviceId} --code CODE --user NAME` : null,
  );
}

/** The key first: its credentials stay at the providers if it refuses. An earlier reset that was interrupted is continued. */
async function resetKey(context: Context, key: NumberedKey, deviceId: string, isConfirmed: boolean): Promise<void> {
  const question = `The PIN and every credential are lost, and perhaps the enterprise attestation. Erase ${safe(key.serialNumber)}?`;
  if (!isConfirmed && !context.canAsk) throw usage('a reset must be confirmed', 'add --yes');
  if (!isConfirmed) await demandYes(context.out, question);
  const requests = issueRequests(context);
  const before = await askedReset(requests, key, deviceId);
  const earlier = before !== 'not known' && before?.isErased ? before.reset : null;
  if (earlier) notify(context, 'An earlier reset has already erased the key.');
  else
    notify(
      context,
      'A key can be erased only within 10 seconds after it was plugged in: if it refuses, plug it in again.',
    );
  const { pending } = earlier ?? (await eraseKey(requests, key, deviceId, before === 'not known'));
  if (pending > 0)
    notify(
      context,
      `The registry removes ${counted(pending, 'credential')} of the erased key at the providers: devmgr show ${deviceId}`,
    );
}
