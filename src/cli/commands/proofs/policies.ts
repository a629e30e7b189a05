import { firmwareRuleOf } from '../../../contract/firmware-rules.ts';
import { identityPolicies, requiredGrades } from '../../../contract/key-values.ts';
import { leaverDelayHours, retentionDays } from '../../../contract/limits.ts';
import type { PeoplePolicy } from '../../../contract/people-policy.ts';
import { leaverActions } from '../../../contract/person-values.ts';
import type { PinPolicy } from '../../../contract/pins.ts';
import type { ProofPolicy } from '../../../contract/proof.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { counted } from '../../count.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, givenTexts } from '../../framework/define.ts';
import { present } from '../../framework/present.ts';
import { itemsIn, safe, textsIn } from '../../terminal/text.ts';

type LeastFirmware = ProofPolicy['leastFirmware'][number];

/** Shows what a key must prove to be registered: `GET /api/policies/proof`. */
export const policiesShow = command({
  examples: {
    'what this registry requires of keys': 'policies show',
    'the required grade, for a script': 'policies show --jq .requiredGrade',
  },
  async run(_, context) {
    const { registry } = context;
    const [policy, others] = await Promise.all([registry.call('showProofPolicy'), otherRules(registry)]);
    await write(context, { ...policy, ...others }, 'What a key must prove to be registered, and who can own one');
  },
});

const days = { value: 'DAYS', whole: { min: 0, max: retentionDays } } as const;

/** Changes parts of the policy: `PUT /api/policies/proof`. */
export const policiesSet = command({
  description:
    'Rules that are not named do not change; an empty value removes a rule: --allow-aaguid "". Registered devices stay registered.\nOnly proved facts count: FIDO proves an AAGUID, SCP11b the firmware, SIM cards and U2F prove neither.\n--least-firmware is VERSION for all keys, or NAME=VERSION for those whose AAGUID is NAME or whose model begins with NAME.',
  flags: {
    persons: {
      value: 'RULE',
      choices: ['required', 'any'],
      field: 'personsRequired',
      help: 'required: a key is activated only for the user name of an active person',
    },
    leavers: {
      value: 'ACTION',
      choices: leaverActions,
      help: 'what happens to the ACTIVE keys of a person who leaves',
    },
    'leaver-delay': {
      value: 'HOURS',
      field: 'leaverDelayHours',
      whole: { min: 0, max: leaverDelayHours },
      help: 'hours between leaving and this action',
    },
    retention: {
      ...days,
      field: 'retentionDays',
      help: 'days after a case is closed until the person is erased automatically; 0: never',
    },
    'copies-kept': {
      ...days,
      field: 'copiesDays',
      help: 'how long backups, logs and forwarded entries are kept, for the list of an erasure; 0: unknown',
    },
    arrival: {
      ...days,
      field: 'arrivalDays',
      help: 'days within which a person must confirm the arrival of a key; 0: never overdue',
    },
    'pin-recipient': {
      value: 'RECIPIENT',
      many: true,
      empty: true,
      field: 'recipients',
      help: 'age recipient (age1…) that can open the PINs of keys issue --pin random; replaces the earlier ones',
    },
    'require-proof': {
      value: 'GRADE',
      field: 'requiredGrade',
      choices: requiredGrades,
      help: 'lowest accepted grade of a proof; none: no proof is required',
    },
    'allow-aaguid': {
      value: 'AAGUID',
      many: true,
      empty: true,
      field: 'allowedAaguids',
      help: 'the only FIDO models that can be registered; FIDO must prove the model',
    },
    'least-firmware': {
      value: 'RULE',
      many: true,
      empty: true,
      field: 'leastFirmware',
      help: 'minimum firmware version, which SCP11b must prove; replaces the earlier rules',
    },
    identity: {
      value: 'RULE',
      choices: identityPolicies,
      help: 'which keys are recognized by a credential that they make; where-needed: those without a usable serial number',
    },
  },
  examples: {
    'only keys whose serial number is proved': 'policies update --require-proof unit',
    'YubiKeys from firmware 5.7 on': 'policies update --least-firmware YubiKey=5.7.0',
    'keys of any model': 'policies update --allow-aaguid ""',
    'keys only for known persons': 'policies update --persons required',
  },
  async run({ flags }, context) {
    const { requireProof, allowAaguid, leastFirmware, identity, persons, leavers, leaverDelay, pinRecipient } = flags;
    const { retention, copiesKept, arrival } = flags;
    const isAboutProof =
      requireProof !== undefined || identity !== undefined || allowAaguid.length > 0 || leastFirmware.length > 0;
    const isAboutPersons = [persons, leavers, leaverDelay, retention, copiesKept, arrival].some(
      rule => rule !== undefined,
    );
    const isAboutPins = pinRecipient.length > 0;
    if (!isAboutProof && !isAboutPersons && !isAboutPins)
      throw usage('nothing to change', 'name a rule: devmgr policies update --help');
    const { registry } = context;
    if (isAboutPins) await registry.call('setPinPolicy', { body: { recipients: givenTexts(pinRecipient)! } });
    if (isAboutPersons) {
      const rules = await registry.call('showPeoplePolicy');
      const wanted: PeoplePolicy = {
        personsRequired: persons === undefined ? rules.personsRequired : persons === 'required',
        leavers: leavers ?? rules.leavers,
        leaverDelayHours: leaverDelay ?? rules.leaverDelayHours,
        ...(retention === undefined ? {} : { retentionDays: retention || null }),
        ...(copiesKept === undefined ? {} : { copiesDays: copiesKept || null }),
        ...(arrival === undefined ? {} : { arrivalDays: arrival || null }),
      };
      await registry.call('setPeoplePolicy', { body: wanted });
    }
    if (!isAboutProof) {
      const policy = { ...(await registry.call('showProofPolicy')), ...(await otherRules(registry)) };
      return write(context, policy, 'The policy is set');
    }
    const rules = givenTexts(leastFirmware)?.map(ruleOf);
    const before = await context.registry.call('showProofPolicy');
    const body: ProofPolicy = {
      requiredGrade: requireProof ?? before.requiredGrade,
      allowedAaguids: givenTexts(allowAaguid)?.map(text => text.toLowerCase()) ?? before.allowedAaguids,
      leastFirmware: rules ?? before.leastFirmware,
      identity: identity ?? before.identity ?? 'where-needed',
    };
    const policy = await registry.call('setProofPolicy', { body });
    return write(context, { ...policy, ...(await otherRules(registry)) }, 'The policy is set');
  },
});

function ruleOf(text: string): LeastFirmware {
  const rule = firmwareRuleOf(text);
  if (rule) return rule;
  throw usage(
    `--least-firmware "${text}" is not VERSION or NAME=VERSION`,
    'for example --least-firmware YubiKey=5.7.0',
  );
}

type OtherRules = Partial<PeoplePolicy> & { readonly pinRecipients?: PinPolicy['recipients'] };

/** A server of an earlier version has no rules about persons or PINs. */
async function otherRules(registry: Client): Promise<OtherRules> {
  const [persons, pins] = await Promise.all([
    nullIfRefused(registry.call('showPeoplePolicy'), 404),
    nullIfRefused(registry.call('showPinPolicy'), 404),
  ]);
  return { ...persons, ...(pins && { pinRecipients: pins.recipients }) };
}

/** Consequences of a leave, in words. */
function leaverWords({ leavers, leaverDelayHours }: Partial<PeoplePolicy>): string | null {
  if (leavers === undefined) return null;
  const when = leaverDelayHours === 0 ? 'at once' : `after ${leaverDelayHours} hours`;
  return `${leavers === 'retire' ? 'keys are retired' : 'keys are locked'} ${when}`;
}

async function write(context: Context, policy: ProofPolicy & OtherRules, title: string): Promise<void> {
  const { requiredGrade, allowedAaguids, leastFirmware, identity, personsRequired, pinRecipients } = policy;
  await present(context, {
    data: policy,
    id: requiredGrade,
    title,
    rows: [
      ['required grade', requiredGrade === 'none' ? 'none: no proof is required' : safe(requiredGrade)],
      ['allowed AAGUIDs', textsIn(allowedAaguids).map(safe).join('\n') || 'any'],
      ['minimum firmware', itemsIn(leastFirmware).map(words).join('\n') || 'any'],
      ['credential of the key', safe(identity ?? 'where-needed')],
      ['persons', personsRequired === undefined ? null : personsRequired ? 'required' : 'any user name'],
      ['leavers', leaverWords(policy)],
      ['erased', policy.retentionDays ? `${counted(policy.retentionDays, 'day')} after the case is closed` : null],
      ['copies kept', policy.copiesDays ? counted(policy.copiesDays, 'day') : null],
      ['arrival within', policy.arrivalDays ? counted(policy.arrivalDays, 'day') : null],
      ['PINs open for', textsIn(pinRecipients).map(safe).join('\n') || null],
    ],
  });
}

const words = ({ aaguid, model, version }: LeastFirmware): string =>
  safe(`${version} for ${aaguid ?? (model === undefined ? 'all keys' : `models that begin with "${model}"`)}`);
