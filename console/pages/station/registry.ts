/** What the bench asks of the registry for one key: a check that changes nothing, then the binding. */
import { Code } from '../../../src/contract/codes.ts';
import type { DataOf, InputOf } from '../../../src/contract/define.ts';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { KeyEnrollment } from '../../../src/enrollment/key-enrollment.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import type { EnrollmentRegistry, EnrollmentWords } from '../../../src/enrollment/registry.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { call, newKey, token } from '../../api/request.ts';
import { streamState } from '../../api/stream.ts';
import { askKey, proofOf } from './prove.ts';
import type { Registry } from './run.ts';
import { failed, judge, judgeAlone, judgeProof, type Verdict } from './verdict.ts';

/** Milliseconds before a request that got no answer is sent again. */
const PAUSE_MS = 1000;
/** How often a request is sent that the daemon fails to carry out. */
const MOST_FAULTS = 3;

/** The registry of the daemon that has served the page. */
export const registry: Registry = {
  async check(key, person, countedFor) {
    try {
      const alone = judgeAlone(key, person, countedFor);
      if (alone !== null) return alone;
      const device = key.device && (await detailOf(key.device.deviceId));
      const verdict = judge(key, person, { device, countedFor });
      if (verdict.failure !== null || device !== null) return verdict;
      const proof = await proofOf(key);
      return proof === null ? verdict : judgeProof(verdict, proof.fault);
    } catch (error) {
      return refusal(problemOf(error));
    }
  },
  async bind(key, person) {
    try {
      return await bound(key, person);
    } catch (error) {
      return refusal(problemOf(error));
    }
  },
};

function refusal(problem: Problem | null): Verdict {
  return problem?.code === 0 ? failed('no answer') : failed('refused', problem?.message ?? null);
}

const detailOf = (deviceId: string): Promise<DeviceDetail> => call('getDevice', { params: { deviceId } });

async function bound(key: Key, person: Person): Promise<Verdict> {
  const options = { manufacturer: null, model: null, dryRun: false, proof: null, tags: null };
  const enrollment = new KeyEnrollment({ registry: requests, words }, { ...options, activateFor: person.userId });
  const { result, deviceId, status, userId, activationCode, message } = await enrollment.handle(key);
  const device = deviceId === null || status === null ? null : { deviceId, status, userId };
  if (result === 'failed') return { ...failed('refused', message, device), activationCode };
  const verdict = judge(key, person, { device, countedFor: undefined });
  // A device that is not active after all has a code that this person may not see.
  return verdict.failure === null && status !== 'ACTIVE' ? failed('refused', null, device) : verdict;
}

/** The requests of an enrollment. Each is repeated until there is an answer. */
const requests: EnrollmentRegistry = {
  deviceOf: async ({ device }) => device && again(() => detailOf(device.deviceId)),
  async find(serialNumber) {
    const query = { keyword: serialNumber, size: 100, sortBy: 'serialNumber', sortOrder: 'asc' } as const;
    const { list } = await again(() => call('listDevices', { query }));
    const found = list.find(device => device.serialNumber === serialNumber);
    return found ? again(() => detailOf(found.deviceId)) : null;
  },
  register: body => sent('registerDevice', { body }),
  activate: body => sent('activateDevice', { body }),
  prove: askKey,
  failureOf(error) {
    const code = problemOf(error)?.code;
    const isAway = code === undefined || code === 0;
    return { isOfOneKey: !isAway, isAway, isDuplicate: code === Code.serialDuplicated, isLost: false };
  },
};

/** The page has its own words for everything but a refusal. */
const words: EnrollmentWords = {
  unreadable: '',
  notActivated: () => '',
  activationRefused: (_, why) => why,
  unproved: () => '',
};

/** Sends a change with one key until there is an answer: whatever happens to the connection, it is carried out once. */
function sent<N extends 'registerDevice' | 'activateDevice'>(
  name: N,
  input: InputOf<Routes[N]>,
): Promise<DataOf<Routes[N]>> {
  const key = newKey();
  return again(() => call(name, input, { key }));
}

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
