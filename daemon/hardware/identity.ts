/** Has an attached key make, find or use the credential by which a registry recognizes it. Only the registry judges the answer. */
import type { RecognizedKey } from '../../drivers/driver.ts';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { inputError } from '../../src/contract/codes.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { identityDataHash } from '../devices/client-data.ts';
import { answerOf, inBase64url, type ProvingKey, requireSerial, toAssertion, toIdentityEvidence } from './proofs.ts';

export type IdentifyInput = Body<'identifyKey'>;
export type IdentifyOutput = Data<'identifyKey'>;

type Found = Pick<IdentifyOutput, 'credentialId' | 'assertion' | 'evidence'>;
const nothing: Found = { credentialId: null, assertion: null };

/** Steps that the key itself carries out. Rejects with an ApiError if the request does not fit the key. */
export async function identifyAttached(
  { driver, key, onState }: ProvingKey,
  { step, relyingParty, challenge, credentials = [], serialNumber }: IdentifyInput,
  signal: AbortSignal,
): Promise<IdentifyOutput> {
  if (serialNumber) requireSerial(key(), serialNumber);
  if (step !== 'find' && challenge === undefined) throw inputError('challenge', `is required for ${step}`);
  const { keyId } = key();
  const clientDataHash = identityDataHash(relyingParty, Buffer.from(challenge ?? '', 'base64url'));
  const question = { relyingParty, clientDataHash, credentials: credentials.map(id => Buffer.from(id, 'base64url')) };
  const find = async () => (question.credentials.length > 0 ? driver.recognize!(keyId, question, signal) : null);
  const { answer, failure, problem } = await answerOf(onState, async (onTouch): Promise<Found> => {
    if (!driver.recognize) throw new HardwareError('unavailable', NO_CREDENTIALS);
    if (step === 'prove') {
      const signed = await driver.prove(keyId, { ...notScp11b, ...question }, { signal, onTouch });
      return signed.method === 'assertion' ? foundOf({ ...signed, assertion: signed }) : nothing;
    }
    const found = await find();
    if (step === 'find') return found === null ? nothing : foundOf(found);
    if (found !== null) throw new HardwareError('protocol', ALREADY_MADE, { data: { refusal: 'excluded' } });
    const { credentials: _, ...made } = question;
    const evidence = await driver.prove(keyId, { ...notScp11b, method: 'fido', ...made }, { signal, onTouch });
    return { ...nothing, evidence: toIdentityEvidence(evidence) };
  });
  return { ...(answer ?? nothing), failure, problem };
}

const foundOf = ({ credentialId, assertion }: RecognizedKey): Found => ({
  credentialId: inBase64url(credentialId),
  assertion: assertion && toAssertion(assertion),
});

const notScp11b = { method: null, hostPublicKey: new Uint8Array() } as const;
const NO_CREDENTIALS = 'only a FIDO key can be recognized by a credential, no SIM card and no simulated key';
const ALREADY_MADE = 'the key already has a credential of this registry: it is a registered device';
