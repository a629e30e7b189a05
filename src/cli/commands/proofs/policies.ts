import type { ProofPolicy } from '../../../contract/proof.ts';
import { requiredGrades } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';

type LeastFirmware = ProofPolicy['leastFirmware'][number];

/** Shows what a key must prove to be registered: `GET /api/policies/proof`. */
export const policiesShow = command({
  flags: {},
  examples: [
    { does: 'what this registry requires of keys', line: 'policies show' },
    { does: 'the required grade, for a script', line: 'policies show --jq .requiredGrade' },
  ],
  async run(_, context) {
    await write(context, await context.registry.call('showProofPolicy'), 'What a key must prove to be registered');
  },
});

/** Changes parts of the policy: `PUT /api/policies/proof`. */
export const policiesSet = command({
  description:
    'Rules that are not named do not change; an empty value removes a rule: --allow-aaguid "". Registered devices stay registered.\nOnly proved facts count: FIDO proves an AAGUID, SCP11b the firmware, SIM cards and U2F neither.\n--least-firmware is VERSION for all keys, or NAME=VERSION for those whose AAGUID is NAME or whose model begins with NAME.',
  flags: {
    'require-proof': {
      value: 'GRADE',
      field: 'requiredGrade',
      choices: requiredGrades,
      help: 'least grade of a proof; none: a proof is not required',
    },
    'allow-aaguid': {
      value: 'AAGUID',
      many: true,
      field: 'allowedAaguids',
      help: 'the only FIDO models to register; FIDO must prove them',
    },
    'least-firmware': {
      value: 'RULE',
      many: true,
      field: 'leastFirmware',
      help: 'least firmware version, which SCP11b must prove; replaces all such rules',
    },
  },
  examples: [
    { does: 'only keys whose serial number is proved', line: 'policies set --require-proof unit' },
    { does: 'YubiKeys from firmware 5.7 on', line: 'policies set --least-firmware YubiKey=5.7.0' },
    { does: 'keys of any model', line: 'policies set --allow-aaguid ""' },
  ],
  async run({ flags }, context) {
    const { requireProof, allowAaguid, leastFirmware } = flags;
    if (requireProof === undefined && allowAaguid.length === 0 && leastFirmware.length === 0)
      throw usage('nothing to change', 'add --require-proof GRADE, --allow-aaguid AAGUID or --least-firmware RULE');
    const rules = given(leastFirmware).map(ruleOf);
    const before = await context.registry.call('showProofPolicy');
    const body: ProofPolicy = {
      requiredGrade: requireProof ?? before.requiredGrade,
      allowedAaguids:
        allowAaguid.length > 0 ? given(allowAaguid).map(text => text.toLowerCase()) : before.allowedAaguids,
      leastFirmware: leastFirmware.length > 0 ? rules : before.leastFirmware,
    };
    await write(context, await context.registry.call('setProofPolicy', { body }), 'The policy is set');
  },
});

/** An empty value removes a rule. */
const given = (texts: readonly string[]): string[] => texts.filter(text => text !== '');

const aaguidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function ruleOf(text: string): LeastFirmware {
  const at = text.lastIndexOf('=');
  const version = text.slice(at + 1).trim();
  const name = text.slice(0, Math.max(at, 0)).trim();
  if (version === '' || (at >= 0 && name === ''))
    throw usage(
      `--least-firmware "${text}" is not VERSION or NAME=VERSION`,
      'for example --least-firmware YubiKey=5.7.0',
    );
  if (name === '') return { version };
  return aaguidForm.test(name) ? { aaguid: name.toLowerCase(), version } : { model: name, version };
}

async function write(context: Context, policy: ProofPolicy, title: string): Promise<void> {
  const { requiredGrade, allowedAaguids, leastFirmware } = policy;
  await present(context, {
    data: policy,
    id: requiredGrade,
    title,
    rows: [
      ['required grade', requiredGrade === 'none' ? 'none: a proof is not required' : safe(requiredGrade)],
      ['allowed AAGUIDs', list(allowedAaguids).map(String).map(safe).join('\n') || 'any'],
      ['least firmware', list(leastFirmware).map(words).join('\n') || 'any'],
    ],
  });
}

const list = <T>(value: readonly T[]): readonly T[] => (Array.isArray(value) ? value : []);

const words = ({ aaguid, model, version }: LeastFirmware): string =>
  safe(`${version} for ${aaguid ?? (model === undefined ? 'all keys' : `models that begin with "${model}"`)}`);
