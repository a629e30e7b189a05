/** Policy of a registry for the keys that it registers. Only proved facts count: what a key claims cannot meet a rule. */
import type { Registration } from '../../../src/contract/device-shapes.ts';
import type { FirmwareRule } from '../../../src/contract/firmware-rules.ts';
import { hasGrade } from '../../../src/contract/grades.ts';
import type { ProofPolicy } from '../../../src/contract/proof.ts';
import { compareFirmware } from '../../devices/firmware.ts';
import type { ProvedFacts } from './proved-facts.ts';

/** Why a key may not be registered: the name of the rule, and a sentence that names the fact. */
interface PolicyRefusal {
  readonly rule: 'required grade' | 'allowed AAGUIDs' | 'least firmware' | 'identity';
  readonly message: string;
}

/** The first rule that the key does not fulfil; null if it may be registered. An unproved fact fulfils no rule about it. */
export function checkPolicy(policy: ProofPolicy, facts: ProvedFacts): PolicyRefusal | null {
  return gradeRefusal(policy, facts) ?? aaguidRefusal(policy, facts) ?? firmwareRefusal(policy, facts);
}

/** Why a key may not be registered with, or without, a credential by which it is recognized; null if it may. */
export function identityRefusal(
  { identity: rule }: ProofPolicy,
  { deviceType, identity }: Pick<Registration, 'deviceType' | 'identity'>,
): PolicyRefusal | null {
  if (rule === 'required' && deviceType === 'UKEY' && !identity)
    return {
      rule: 'identity',
      message: 'the policy of this registry requires a credential by which a key is recognized',
    };
  if (rule !== 'never' || !identity) return null;
  return { rule: 'identity', message: 'the policy of this registry allows no credential by which a key is recognized' };
}

function gradeRefusal({ requiredGrade }: ProofPolicy, { grade, failure }: ProvedFacts): PolicyRefusal | null {
  if (hasGrade({ grade }, requiredGrade)) return null;
  const why = failure ? ` (${failure})` : '';
  return {
    rule: 'required grade',
    message: `the policy of this registry requires a proof of grade ${requiredGrade}; the grade of this key is ${grade}${why}`,
  };
}

function aaguidRefusal({ allowedAaguids }: ProofPolicy, { aaguid, basis }: ProvedFacts): PolicyRefusal | null {
  if (allowedAaguids.length === 0 || (aaguid !== null && allowedAaguids.includes(aaguid))) return null;
  const found = aaguid === null ? `the AAGUID of this key is not proved (proof: ${basis})` : `${aaguid} is not allowed`;
  return {
    rule: 'allowed AAGUIDs',
    message: `the policy of this registry allows keys by their AAGUID; ${found}`,
  };
}

function firmwareRefusal({ leastFirmware }: ProofPolicy, facts: ProvedFacts): PolicyRefusal | null {
  const broken = leastFirmware.find(rule => !hasFirmware(facts, rule) && !isOfOther(facts, rule));
  if (!broken) return null;
  return {
    rule: 'least firmware',
    message: `the policy of this registry requires firmware ${broken.version} or later${keysOf(broken)}; ${foundFirmware(broken, facts)}`,
  };
}

const hasFirmware = ({ firmware }: ProvedFacts, { version }: FirmwareRule): boolean =>
  firmware !== null && (compareFirmware(firmware, version) ?? -1) >= 0;

/** Whether it is proved that the rule is about other keys. A proved name that is only the start of that in the rule does not say so. */
function isOfOther(facts: ProvedFacts, rule: FirmwareRule): boolean {
  if (rule.aaguid !== undefined && facts.aaguid !== null && facts.aaguid !== rule.aaguid) return true;
  if (rule.model === undefined || facts.model === null) return false;
  const [proved, named] = [facts.model.toLowerCase(), rule.model.toLowerCase()];
  return !proved.startsWith(named) && !named.startsWith(proved);
}

function keysOf({ aaguid, model }: FirmwareRule): string {
  const about = [
    aaguid !== undefined && `the AAGUID ${aaguid}`,
    model !== undefined && `a model that begins with "${model}"`,
  ].filter(text => text !== false);
  return about.length === 0 ? '' : ` of keys with ${about.join(' and ')}`;
}

/** Names each fact that could have met the rule and is not proved. */
function foundFirmware(rule: FirmwareRule, { firmware, aaguid, model, basis }: ProvedFacts): string {
  if (firmware !== null) return `this key has ${firmware}`;
  const missing = [
    'firmware',
    rule.aaguid !== undefined && aaguid === null && 'AAGUID',
    rule.model !== undefined && model === null && 'model',
  ].filter(name => name !== false);
  return `the ${missing.join(' and the ')} of this key ${missing.length > 1 ? 'are' : 'is'} not proved (proof: ${basis})`;
}
