/** The time of an answer that hides a reason: it must not show whether the key exists. */
import { expect, it } from 'vitest';
import { DecisionService } from '../../daemon/decisions/service.ts';
import type { DeviceRecord } from '../../daemon/devices/records.ts';
import type { Context } from '../../daemon/requests/context.ts';
import { Limiter } from '../../daemon/requests/limiter.ts';

const device = (serialNumber: string, status: string) =>
  ({ number: 7, serialNumber, status, person: 3, proof: null }) as DeviceRecord;
const known = new Map([
  ['locked', device('locked', 'LOCKED')],
  ['active', device('active', 'ACTIVE')],
]);
const context = {
  caller: { role: 'VIEWER', user: null, serviceToken: { number: 1, may: ['decide'] }, expiresAt: 0, loginAt: 0 },
  requestId: 'r',
  address: '192.0.2.1',
} as unknown as Context;

/** A service whose token may ask for `free` unknown keys. Its clock moves only while keys and persons are read, and while it waits. */
function serviceWith(free: number, readMs = 3) {
  let at = 0;
  const now = () => Math.floor(at);
  const clock = {
    now: () => at,
    reach: async (end: number) => {
      at = Math.max(at, end);
    },
  };
  const store = {
    devicesWithSerial: async (serials: readonly string[]) => {
      const found = serials.filter(one => known.has(one));
      at += readMs * (1 + found.length);
      return new Map(found.map(one => [one, known.get(one)!]));
    },
  };
  const owners = {
    leftAmong: async (persons: readonly number[]) => {
      at += readMs * persons.length;
      return new Set<number>();
    },
  };
  const limits = { login: null, query: null, modify: null, upload: null, unknownKey: { count: free, seconds: 3600 } };
  const service = new DecisionService({
    store,
    owners,
    finders: [],
    limiter: new Limiter(limits),
    now,
    clock,
  } as never);
  /** What an answer shows: milliseconds until it is there, and until when it may be kept. */
  return async (...serialNumbers: string[]) => {
    const begun = at;
    const questions = serialNumbers.map(serialNumber => ({ serialNumber }));
    const { decisions } = await service.decide(context, { questions });
    const reasons = decisions.map(({ reason }) => reason);
    return { reasons, took: at - begun, kept: Date.parse(decisions[0]!.until) - begun };
  };
}

it('is the same for a key that is locked and for one that does not exist', async () => {
  const ask = serviceWith(0);
  const hidden = await ask('none');
  expect(hidden).toEqual({ reasons: ['unknown'], took: 50, kept: 5000 });
  expect(await ask('locked')).toEqual(hidden);
  const many = await ask('none', 'none-2', 'active');
  expect(many).toEqual({ reasons: ['unknown', 'unknown', 'active'], took: 50, kept: 5000 });
  expect(await ask('locked', 'none', 'active')).toEqual(many);
});

it('is that of the next step if the registry is slow', async () => {
  const ask = serviceWith(0, 20);
  expect(await ask('locked')).toMatchObject({ took: 100 });
});

it('does not delay keys that are allowed, and no answers before the limit', async () => {
  const ask = serviceWith(1);
  expect(await ask('locked')).toMatchObject({ reasons: ['locked'], took: 9 });
  expect(await ask('none')).toMatchObject({ reasons: ['unknown'], took: 3 });
  expect(await ask('active')).toMatchObject({ reasons: ['active'], took: 9 });
  expect(await ask('none')).toMatchObject({ reasons: ['unknown'], took: 50 });
});
