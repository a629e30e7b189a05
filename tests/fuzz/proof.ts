/** Hostile bytes for the readers of proofs: each input gives a value or a typed error, soon. Seeded, so that a fault can be repeated. */
import { readAuthenticatorData } from '../../daemon/proofs/judge/authenticator-data.ts';
import { readCertificate } from '../../daemon/proofs/judge/certificate.ts';
import { childrenOf, readDer } from '../../daemon/proofs/judge/der.ts';
import { evidenceDigest, judge } from '../../daemon/proofs/judge/judge.ts';
import { MalformedError } from '../../daemon/proofs/judge/malformed.ts';
import { entryOf } from '../../daemon/proofs/judge/metadata-entry.ts';
import { readPayload } from '../../daemon/proofs/judge/metadata-json.ts';
import { certificatesIn } from '../../daemon/proofs/judge/trust-file.ts';
import type { Question } from '../../daemon/proofs/judge/types.ts';
import { readRegistration } from '../../daemon/proofs/judge/u2f.ts';
import { readCbor } from '../../drivers/protocols/cbor.ts';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { proofOperations } from '../../src/contract/proofs.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { mulberry } from '../support/mulberry.ts';

/** A reader, and inputs that it accepts. */
export interface Reader {
  readonly name: string;
  readonly samples: readonly Uint8Array[];
  /** Throws, or rejects with, MalformedError or a refusal of the interface. */
  read(bytes: Uint8Array): unknown;
}

/** The evidence that was tried. */
export interface HostileReport {
  readonly tried: number;
  readonly refused: number;
  /** Milliseconds of the slowest input. */
  readonly slowest: number;
  /** Inputs that gave any other error, with the seed. */
  readonly faults: readonly string[];
}

/** The readers that keys and files reach, with samples from test authenticators. */
export function readers(samples: {
  readonly certificates: readonly Uint8Array[];
  readonly cbor: readonly Uint8Array[];
  readonly authenticatorData: readonly Uint8Array[];
  readonly registrations: readonly Uint8Array[];
  readonly metadata: readonly Uint8Array[];
  readonly trustFiles: readonly Uint8Array[];
  readonly claims: readonly Uint8Array[];
  readonly evidence: readonly Uint8Array[];
  /** The trust that the evidence is judged by. */
  readonly question: Question;
}): Reader[] {
  return [
    { name: 'claims as sent', samples: samples.claims, read: bytes => submitted({ claims: asSent(bytes) }).claims },
    { name: 'evidence as sent', samples: samples.evidence, read: bytes => judged(bytes, samples.question) },
    { name: 'FIDO metadata', samples: samples.metadata, read: readMetadata },
    { name: 'file with certificates', samples: samples.trustFiles, read: certificatesIn },
    { name: 'CBOR', samples: samples.cbor, read: readCbor },
    { name: 'DER', samples: samples.certificates, read: walk },
    { name: 'certificate', samples: samples.certificates, read: readCertificate },
    { name: 'authenticator data', samples: samples.authenticatorData, read: readAuthenticatorData },
    { name: 'U2F registration', samples: samples.registrations, read: readRegistration },
  ];
}

/** JSON of a request; what is not JSON is refused before it reaches the readers. */
function asSent(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch (cause) {
    throw new MalformedError('JSON', 'it cannot be parsed', { cause });
  }
}

const readBody = compileReader(proofOperations.submitProof.body);

/** The body of an answer to a challenge as the daemon reads it. */
function submitted(answer: object) {
  const result = readBody({ serialNumber: 'A-1', ...answer });
  if (!result.ok) throw new ApiError(Code.parameterError, result.message);
  return result.value;
}

function judged(bytes: Uint8Array, question: Question): unknown {
  const { evidence } = submitted({ claims: {}, evidence: asSent(bytes) });
  if (!evidence) throw new MalformedError('evidence', 'there is none');
  return [evidenceDigest(evidence), judge({ claims: {}, evidence }, question)];
}

async function readMetadata(bytes: Uint8Array): Promise<number> {
  const { entries } = await readPayload(Buffer.from(bytes), { over: false, pass: () => Promise.resolve() });
  let read = 0;
  for await (const entry of entries) if (entryOf(entry)) read++;
  return read;
}

/** Reads every level, as no caller does. */
function walk(bytes: Uint8Array): number {
  const open = [readDer(bytes)];
  let elements = 0;
  for (let element = open.pop(); element; element = open.pop()) {
    elements++;
    if (element.tag & 0x20) open.push(...childrenOf(element));
  }
  return elements;
}

/** Whole numbers from 0 to below `limit`, always the same ones for a seed. */
export function randomNumbers(seed: number): (limit: number) => number {
  const next = mulberry(seed);
  return limit => (next() * 2 ** 32) % limit;
}

/** Bytes that mean something at the beginning of a length, a type or a number. */
const telling = [
  0x00, 0x01, 0x17, 0x18, 0x1f, 0x30, 0x5f, 0x7f, 0x80, 0x81, 0x84, 0x9b, 0xa0, 0xbf, 0xdb, 0xf9, 0xfb, 0xff,
] as const;

/** A sample that was changed in one to four places, or bytes without any form. */
export function mutated(sample: Uint8Array, next: (limit: number) => number): Uint8Array {
  if (next(16) === 0) return Uint8Array.from({ length: next(200) }, () => next(256));
  let bytes: Buffer = Buffer.from(sample);
  for (let changes = 1 + next(4); changes > 0; changes--) bytes = changed(bytes, next);
  return bytes;
}

function changed(bytes: Buffer, next: (limit: number) => number): Buffer {
  const at = next(bytes.length + 1);
  const length = next(9);
  switch (next(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Uint8Array.of(telling[next(telling.length)]!), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length * 8), bytes.subarray(at)]);
    case 4:
      return withByte(bytes, at, telling[next(telling.length)]!);
    default:
      return withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << next(8)));
  }
}

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = value;
  return copy;
}

/** Gives `count` hostile inputs to a reader. */
export async function tryReader(
  reader: Reader,
  { seed, count }: { seed: number; count: number },
): Promise<HostileReport> {
  const next = randomNumbers(seed);
  const faults: string[] = [];
  let refused = 0;
  let slowest = 0;
  for (let tried = 0; tried < count; tried++) {
    const bytes = mutated(reader.samples[next(reader.samples.length)]!, next);
    const { error, milliseconds } = await measured(() => reader.read(bytes));
    if (error !== undefined) refused++;
    if (error !== undefined && !isRefusal(error))
      faults.push(`${reader.name}, input ${tried} of seed ${seed}: ${error}: ${Buffer.from(bytes).toString('hex')}`);
    slowest = Math.max(slowest, milliseconds);
  }
  return { tried: count, refused, slowest, faults };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof MalformedError || (error instanceof ApiError && error.code === 1001);

/** Longer than any input needs: what took longer is measured again, since something else may have run. */
const SUSPECT_MS = 5;
const ATTEMPTS = 3;

async function measured(read: () => unknown): Promise<{ error: unknown; milliseconds: number }> {
  let error: unknown;
  let milliseconds = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && milliseconds > SUSPECT_MS; attempt++) {
    const began = performance.now();
    try {
      await read();
    } catch (thrown) {
      error = thrown;
    }
    milliseconds = Math.min(milliseconds, performance.now() - began);
  }
  return { error, milliseconds };
}
