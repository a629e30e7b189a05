/** What the station asks of the registry for one key: a check that changes nothing, then the binding. */
import { Code } from '../../../src/contract/codes.ts';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import { cardNumber, formsOf } from '../../../src/contract/iccid.ts';
import { type RequiredGrade, unproved } from '../../../src/contract/values.ts';
import { recordClaims } from '../../../src/enrollment/claims-record.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { PersonEnrollment, type PersonVerdict } from '../../../src/enrollment/line/person-enrollment.ts';
import { exchangeProof, type ProofRequests } from '../../../src/enrollment/proof-exchange.ts';
import type { EnrollmentRegistry, EnrollmentWords, KeyProof, NumberedKey } from '../../../src/enrollment/registry.ts';
import { claimedIn, claimsPoll } from '../../../src/enrollment/same-device.ts';
import { problemOf } from '../../api/problem.ts';
import { call, newKey, token } from '../../api/request.ts';
import { streamState } from '../../api/stream.ts';
import type { StationRegistry } from './run.ts';

/** Milliseconds before a request that got no answer is sent again. */
const PAUSE_MS = 1000;
/** How often a request is sent that the daemon fails to carry out. */
const MOST_FAULTS = 3;

/** Makes a request, once or until there is an answer. */
type RequestAttempt = <T>(request: () => Promise<T>) => Promise<T>;

/** The registry of the daemon that has served the page. */
export const registry: StationRegistry = {
  check: (key, person, counted, another) =>
    judged(key, person, enrollment(request => request()).check(key, person, counted, another)),
  // Whatever happens to the connection, the binding is carried out once.
  bind: (key, person, proved, another) => judged(key, person, enrollment(again).bind(key, person, proved, another)),
  pulledEarly: (key, person) => enrollment(again).pulledEarly(key, person),
};

async function judged(key: Key, person: Person, verdict: Promise<PersonVerdict>): Promise<PersonVerdict> {
  try {
    return await verdict;
  } catch (error) {
    const problem = problemOf(error);
    const failure = problem?.code === 0 ? 'no answer' : 'refused';
    return enrollment(again).failed(key, person, failure, failure === 'refused' ? (problem?.message ?? '') : '');
  }
}

const enrollment = (attempt: RequestAttempt): PersonEnrollment =>
  new PersonEnrollment(
    { registry: requestsBy(attempt), words },
    {
      manufacturer: null,
      model: null,
      dryRun: false,
      proof: null,
      tags: null,
      requiredProof: async ({ result }) => (result === 'new' ? requiredProof() : null),
    },
  );

const detailOf = (deviceId: string): Promise<DeviceDetail> => call('getDevice', { params: { deviceId } });

const requestsBy = (attempt: RequestAttempt): EnrollmentRegistry => ({
  deviceOf: async ({ device }) => device && attempt(() => detailOf(device.deviceId)),
  async find(serialNumber) {
    const forms = formsOf(serialNumber);
    const query = { keyword: cardNumber(serialNumber), size: 100, sortBy: 'serialNumber', sortOrder: 'asc' } as const;
    const { list } = await attempt(() => call('listDevices', { query }));
    const found = forms.map(form => list.find(device => device.serialNumber === form)).find(Boolean);
    return found ? attempt(() => detailOf(found.deviceId)) : null;
  },
  async withClaims(key) {
    for (const end = performance.now() + claimsPoll.forMs; performance.now() < end; ) {
      const now = claimedIn((await call('listKeys', {})).list, key);
      if (now !== null) return now;
      await new Promise(resolve => setTimeout(resolve, claimsPoll.everyMs));
    }
    return key;
  },
  credentials: deviceId => attempt(() => call('listCredentials', { params: { deviceId } })),
  step: ({ keyId, serialNumber }, step) => call('issueKey', { params: { keyId }, body: { ...step, serialNumber } }),
  recordClaims(key) {
    recordClaims({ ...proofRequests, withClaims: this.withClaims }, key).catch(() => undefined);
  },
  async keysOf(userId) {
    const query = { userId, status: ['ACTIVE' as const], size: 100 };
    return (await attempt(() => call('listDevices', { query }))).list;
  },
  register(body) {
    const key = newKey();
    return attempt(() => call('registerDevice', { body }, { key }));
  },
  activate(body) {
    const key = newKey();
    return attempt(() => call('activateDevice', { body }, { key }));
  },
  prove: proofOf,
  failureOf(error) {
    const code = problemOf(error)?.code;
    const isAway = code === undefined || code === 0;
    return { isOfOneKey: !isAway, isAway, isDuplicate: code === Code.serialDuplicated, isLost: false };
  },
});

/** The page has its own words for everything but a refusal and a proof. */
const words: EnrollmentWords = {
  unreadable: '',
  notActivated: () => '',
  otherKey: (deviceId, _, { what, recorded, shown }) => `${deviceId}: ${what} ${recorded} ≠ ${shown}`,
  conflict: () => '',
  activationRefused: (_, why) => why,
  unproved: (required, { proof, reason }) => `${required}; found: ${proof.grade}${reason ? ` (${reason})` : ''}`,
  pulledEarly: '',
  wrongType: () => '',
  counted: () => '',
  hasKeys: (_, keys) => keys.map(({ deviceId, serialNumber }) => `${deviceId} (${serialNumber})`).join(', '),
};

/** Repeats a request that got no answer, as long as there is a session. */
async function again<T>(request: () => Promise<T>): Promise<T> {
  for (let faults = 0; ; ) {
    try {
      return await request();
    } catch (error) {
      const problem = problemOf(error);
      if (problem?.code === 500) faults++;
      const isOver = token.peek() === null || faults >= MOST_FAULTS;
      if (isOver || (problem?.code !== 0 && problem?.code !== 500)) throw error;
      await nextAttempt();
    }
  }
}

/** Waits until the daemon may answer: a pause, and the stream. */
async function nextAttempt(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  if (streamState.peek() !== 'lost') return;
  await new Promise<void>(resolve => {
    const stop = streamState.subscribe(state => {
      if (state === 'lost') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

/** Some keys answer once after they were plugged in, and another badge checks the key again. */
let last: { readonly keyId: Key['keyId']; readonly answer: KeyProof } | null = null;

/** What the policy requires of a new key; null if it requires nothing. Its rules about models are checked by the registration, which names them. */
async function requiredProof(): Promise<RequiredGrade | null> {
  const { requiredGrade, allowedAaguids, leastFirmware } = await call('showProofPolicy', {});
  const hasRules = requiredGrade !== 'none' || allowedAaguids.length > 0 || leastFirmware.length > 0;
  return hasRules ? requiredGrade : null;
}

/** What the key answers. It may have to be touched. The registration takes the answer, which is valid for a day. */
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
