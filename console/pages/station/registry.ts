/** The requests of the station page for one key: a check that changes nothing, then the binding. */
import type { Key } from '../../../src/contract/hardware.ts';
import { cardNumber, formsOf } from '../../../src/contract/iccid.ts';
import { type RequiredGrade, unproved } from '../../../src/contract/key-values.ts';
import { poll } from '../../../src/delivery/wait.ts';
import { recordClaims } from '../../../src/enrollment/claims-record.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { PersonEnrollment, type PersonVerdict } from '../../../src/enrollment/line/person-enrollment.ts';
import { exchangeProof, type ProofRequests } from '../../../src/enrollment/proof-exchange.ts';
import { Recognition } from '../../../src/enrollment/recognition.ts';
import type { EnrollmentWords, KeyProof, NumberedKey } from '../../../src/enrollment/registry.ts';
import { enrollmentRegistryBy, questionsBy } from '../../../src/enrollment/requests.ts';
import type { Send } from '../../../src/enrollment/send.ts';
import { problemOf } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { codeOf, send, sendAgain } from './requests.ts';
import type { StationRegistry } from './run.ts';

/** Keys without a serial number: those of the machine of the daemon, as the registry recognizes them. */
export const recognition = new Recognition(send, send, poll, { station: async () => location.hostname });

/** The registry of the daemon that has served the page. */
export const registry: StationRegistry = {
  check: (key, person, counted, another) => judged(key, person, enrollment(send).check(key, person, counted, another)),
  // Whatever happens to the connection, the binding is carried out once.
  bind: (key, person, proved, another) => judged(key, person, enrollment(sendAgain).bind(key, person, proved, another)),
  pulledEarly: (key, person) => enrollment(sendAgain).pulledEarly(key, person),
};

async function judged(key: Key, person: Person, verdict: Promise<PersonVerdict>): Promise<PersonVerdict> {
  try {
    return await verdict;
  } catch (error) {
    const problem = problemOf(error);
    const failure = problem?.code === 0 ? 'no answer' : 'refused';
    return enrollment(sendAgain).failed(key, person, failure, failure === 'refused' ? (problem?.message ?? '') : '');
  }
}

const enrollment = (registry: Send): PersonEnrollment =>
  new PersonEnrollment(
    { registry: enrollmentRegistryBy(registry, { ...own, ...questionsBy(registry, send, poll, recognition) }), words },
    {
      manufacturer: null,
      model: null,
      dryRun: false,
      proof: null,
      tags: null,
      requiredProof: async ({ result }) => (result === 'new' ? requiredProof() : null),
    },
  );

const own = {
  codeOf,
  // A write without an answer is sent until it has one.
  isLost: () => false,
  // The next key may be plugged in after the operator has signed in again.
  fatal: [],
  registrationOf: async ({ device }: Key) => device,
  async bySerial(serialNumber: string) {
    const query = { keyword: cardNumber(serialNumber), size: 100, sortBy: 'serialNumber', sortOrder: 'asc' } as const;
    const { list } = await sendAgain('listDevices', { query });
    return (
      formsOf(serialNumber)
        .map(form => list.find(device => device.serialNumber === form))
        .find(Boolean) ?? null
    );
  },
  recordClaims(key: NumberedKey) {
    recordClaims({ ...proofRequests, ...questionsBy(send, send, poll) }, key).catch(() => undefined);
  },
  prove: proofOf,
};

/** The page has its own words for every other reason. */
const words: EnrollmentWords = reason => {
  switch (reason.type) {
    case 'other key': {
      const { what, recorded, shown } = reason.contradiction;
      return `${reason.device.deviceId}: ${what} ${recorded} ≠ ${shown}`;
    }
    case 'other device':
      return `${reason.carried.deviceId} (${reason.carried.serialNumber})`;
    case 'activation refused':
      return reason.why ?? '';
    case 'unproved': {
      const { proof, reason: why } = reason.found;
      return `${reason.required}; found: ${proof.grade}${why ? ` (${why})` : ''}`;
    }
    case 'has keys':
      return reason.keys.map(({ deviceId, serialNumber }) => `${deviceId} (${serialNumber})`).join(', ');
    default:
      return '';
  }
};

/** Some keys answer once after they were plugged in, and another badge checks the key again. */
let last: { readonly keyId: Key['keyId']; readonly answer: KeyProof } | null = null;

/** The grade that the policy requires of a new key; null for none. The registration checks its rules about models, and names them. */
async function requiredProof(): Promise<RequiredGrade | null> {
  const { requiredGrade, allowedAaguids, leastFirmware } = await call('showProofPolicy', {});
  const hasRules = requiredGrade !== 'none' || allowedAaguids.length > 0 || leastFirmware.length > 0;
  return hasRules ? requiredGrade : null;
}

/** The proof of the key, which may have to be touched. The registration takes the proof, which is valid for a day. */
async function proofOf(key: NumberedKey): Promise<KeyProof> {
  if (last?.keyId !== key.keyId) last = { keyId: key.keyId, answer: await askKey(key) };
  return last.answer;
}

const proofRequests: Omit<ProofRequests, 'proveKey'> = {
  createChallenge: () => call('createProofChallenge', {}),
  submitProof: input => call('submitProof', input),
};

async function askKey(key: NumberedKey): Promise<KeyProof> {
  const requests: ProofRequests = {
    ...proofRequests,
    proveKey: body => call('proveKey', { params: { keyId: key.keyId }, body }),
  };
  const { problem, verdict } = await exchangeProof(requests, key, 'policy');
  if (verdict === null) return { proof: { ...unproved, warnings: [] }, proofId: null, reason: problem ?? '' };
  const { proof, proofId, reason } = verdict;
  return { proof, proofId, reason: problem ?? reason ?? '' };
}
