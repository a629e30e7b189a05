/** Reads claims and evidence as clients send them. Both are kept as they were sent, so every part of them is bounded here. */
import { Type } from 'typebox';
import { ApiError, Code } from './codes.ts';
import { proofBounds } from './limits.ts';
import { type Claims, claims, type Evidence, evidenceByMethod, type ProofPolicy, proofPolicyItem } from './proof.ts';
import { compileReader, type ReadResult } from './validate.ts';

type EvidenceFields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is EvidenceFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const refuse = (message: string): never => {
  throw new ApiError(Code.parameterError, message);
};

function accepted<T>(name: string, result: ReadResult<T>): T {
  return result.ok ? result.value : refuse(`${name}.${result.message}`);
}

const { attestationFormats, certifications, options, ...plain } = claims.properties;
const readPlain = compileReader(Type.Object(plain));
const oneText = compileReader(Type.Object({ item: plain.firmware }));

/** Throws `ApiError` 1001, which names the claim. Claims that are unknown here are left out. */
export function readClaims(input: unknown): Claims {
  if (!isObject(input)) return refuse('claims must be a JSON object');
  return {
    ...accepted('claims', readPlain(input)),
    ...only('attestationFormats', readTexts(input.attestationFormats)),
    ...only('certifications', readNamed('certifications', input.certifications, Number.isSafeInteger)),
    ...only(
      'options',
      readNamed('options', input.options, value => typeof value === 'boolean'),
    ),
  } as Claims;
}

const only = (name: string, value: unknown): EvidenceFields => (value === undefined ? {} : { [name]: value });

function readTexts(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length > proofBounds.claimItems)
    return refuse(`claims.attestationFormats must be an array of at most ${proofBounds.claimItems} texts`);
  return value.map(item => accepted('claims.attestationFormats', oneText({ item })).item ?? refuse(emptyText));
}
const emptyText = 'claims.attestationFormats must not have empty texts';

function readNamed(name: string, value: unknown, isRight: (value: unknown) => boolean): EvidenceFields | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value) || Object.keys(value).length > proofBounds.claimItems)
    return refuse(`claims.${name} must be an object of at most ${proofBounds.claimItems} values`);
  for (const [key, each] of Object.entries(value)) {
    if (!isRight(each)) refuse(`claims.${name} has a value of another type`);
    accepted(`claims.${name}`, oneText({ item: key }));
  }
  return value;
}

const { chain, ...scpFields } = evidenceByMethod.scp11b.properties;
const without = <T extends { readonly method: unknown }>({ method: _, ...fields }: T): Omit<T, 'method'> => fields;
const readScp = compileReader(Type.Object(without(scpFields)));
const readCertificateText = compileReader(Type.Object({ item: chain.items }));
const readFido = compileReader(Type.Object(without(evidenceByMethod.fido.properties)));
const readU2f = compileReader(Type.Object(without(evidenceByMethod.u2f.properties)));

/** Throws `ApiError` 1001, which names the field. */
export function readEvidence(input: unknown): Evidence {
  if (!isObject(input)) return refuse('evidence must be a JSON object or null');
  switch (input.method) {
    case 'scp11b':
      return { method: 'scp11b', ...accepted('evidence', readScp(input)), chain: readChain(input.chain) } as Evidence;
    case 'fido':
      return { method: 'fido', ...accepted('evidence', readFido(input)) } as Evidence;
    case 'u2f':
      return { method: 'u2f', ...accepted('evidence', readU2f(input)) } as Evidence;
    default:
      return refuse('evidence.method must be one of scp11b, fido, u2f');
  }
}

function readChain(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > proofBounds.chain)
    return refuse(`evidence.chain must have 1 to ${proofBounds.chain} items`);
  return value.map(item => accepted('evidence.chain', readCertificateText({ item })).item as string);
}

const readAaguid = compileReader(Type.Object({ aaguid: proofPolicyItem.aaguid }));
const readFirmware = compileReader(Type.Object({ ...proofPolicyItem.leastFirmware.properties }));

/** The items of a policy. Throws `ApiError` 1001, which names the field. */
export function readPolicy({ requiredGrade, allowedAaguids, leastFirmware }: ProofPolicy): ProofPolicy {
  return {
    requiredGrade,
    allowedAaguids: allowedAaguids.map(aaguid => accepted('allowedAaguids', readAaguid({ aaguid })).aaguid),
    leastFirmware: leastFirmware.map(item => accepted('leastFirmware', readFirmware(item))),
  };
}
