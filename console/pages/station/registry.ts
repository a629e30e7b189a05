/** What the bench asks of the registry for one key: a check that changes nothing, then the binding. */
import { Code } from '../../../src/contract/codes.ts';
import type { DataOf, InputOf } from '../../../src/contract/define.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import type { Person } from '../../../src/enrollment/line/people.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { call, newKey, token } from '../../api/request.ts';
import { streamState } from '../../api/stream.ts';
import { proofOf } from './prove.ts';
import type { Registry } from './run.ts';
import { failed, judge, judgeAlone, judgeProof, type Registered, type Verdict } from './verdict.ts';

type Detail = DataOf<Routes['getDevice']>;

/** Manufacturer and model of a key that does not report them. */
const unknown = 'unknown';
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

function refusal(problem: Problem | null, device: Registered | null = null): Verdict {
  return problem?.code === 0 ? failed('no answer') : failed('refused', problem?.message ?? null, device);
}

const detailOf = (deviceId: string): Promise<Detail> => call('getDevice', { params: { deviceId } });

async function bound(key: Key, person: Person): Promise<Verdict> {
  const device = await registered(key);
  if ('userId' in device) {
    const verdict = judge(key, person, { device, countedFor: undefined });
    if (verdict.failure !== null || device.status === 'ACTIVE') return verdict;
  }
  const { deviceId, activationCode } = device;
  const inactive = { deviceId, status: 'INACTIVE', userId: null } as const;
  if (activationCode === null) return failed('refused', null, inactive);
  try {
    const { status, userId } = await sent('activateDevice', {
      body: { deviceId, activationCode, userId: person.userId },
    });
    return judge(key, person, { device: { deviceId, status, userId }, countedFor: undefined });
  } catch (error) {
    return { ...refusal(problemOf(error), inactive), activationCode };
  }
}

/** The device of the key, registered now if it was not: another station can be faster than this one. */
async function registered(key: Key): Promise<Detail | DataOf<Routes['registerDevice']>> {
  if (key.device) return again(() => detailOf(key.device?.deviceId ?? ''));
  const { deviceType, serialNumber, manufacturer, model, hardwareVersion, firmwareVersion } = key;
  const body = {
    deviceType,
    serialNumber: serialNumber ?? '',
    manufacturer: manufacturer ?? unknown,
    model: model ?? unknown,
    ...(hardwareVersion !== null && { hardwareVersion }),
    ...(firmwareVersion !== null && { firmwareVersion }),
  };
  try {
    return await sent('registerDevice', { body });
  } catch (error) {
    if (problemOf(error)?.code !== Code.serialDuplicated) throw error;
    const query = { keyword: body.serialNumber, size: 100, sortBy: 'serialNumber', sortOrder: 'asc' } as const;
    const { list } = await again(() => call('listDevices', { query }));
    const found = list.find(device => device.serialNumber === body.serialNumber);
    if (!found) throw error;
    return again(() => detailOf(found.deviceId));
  }
}

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
