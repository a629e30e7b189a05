import { afterAll, expect, test } from 'vitest';
import { Code } from '../../src/contract/codes.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { poll } from '../../src/delivery/wait.ts';
import { KeyEnrollment } from '../../src/enrollment/key-enrollment.ts';
import { Recognition } from '../../src/enrollment/recognition.ts';
import { enrollmentRegistryBy, questionsBy } from '../../src/enrollment/requests.ts';
import type { Send } from '../../src/enrollment/send.ts';
import { attachedTo } from '../support/attached.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { mulberry } from '../support/mulberry.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';

const KEYS = Number(process.env.DEVMGR_STORM_KEYS ?? 200);
const SEED = Number(process.env.DEVMGR_SEED ?? 20_261_129);
const random = mulberry(SEED);
const pick = (most: number): number => Math.floor(random() * most);

const daemon = daemonOfTests();
const root = authenticatorRoot('Test root of the storm');
const AAGUID = '54d9fee8-e621-4291-8b18-7157b99c5bec';
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map(stop => stop())));

/** A refusal of the registry. */
class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const registry: Send = async (operation, input) => {
  const { params = {}, query = {}, body } = input as Record<string, Record<string, string>>;
  const { method, path } = endpoints[operation];
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name]!));
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`;
  const answer = await daemon.call(method, `${filled}${search}`, body);
  if (answer.code !== 200) throw new Refused(answer.code, answer.message);
  return answer.data;
};

/** A station with one slot, and the keys that it enrolls as an operator does. */
async function stationOf() {
  const system = new FakeHid();
  const keys = attachedTo(system);
  await keys.start();
  stops.push(() => keys.stop());
  const never = new AbortController().signal;
  const hardware = (async (operation: string, { params, body }: { params?: { keyId: string }; body?: never }) => {
    if (operation === 'listKeys') return { list: await keys.list(), drivers: keys.driverStatuses() };
    if (operation === 'identifyKey') return keys.identify(params!.keyId, body!, never);
    throw new Error(`${operation} is not asked for`);
  }) as Send;
  const recognition = new Recognition(registry, hardware, poll);
  const codeOf = (error: unknown) => (error instanceof Refused ? error.code : 404);
  const parts = {
    registry: enrollmentRegistryBy(registry, {
      ...questionsBy(registry, hardware, poll, recognition),
      codeOf,
      isLost: () => false,
      fatal: [Code.tokenInvalid],
      registrationOf: async (key: Key) => bySerial(key.serialNumber),
      bySerial,
      recordClaims: () => undefined,
      prove: () => Promise.reject(new Error('no proof is required')),
    }),
    words: ({ type }: { readonly type: string }) => type,
  };
  const options = { manufacturer: 'Maker', model: 'Key', activateFor: null, dryRun: false, proof: null, tags: null };
  const attached = (count: number) =>
    poll(async () => ((await keys.list()).length === count ? true : null), { everyMs: 5, forMs: 10_000 });
  return {
    recognition,
    async plug(authenticator: TestAuthenticator, touched = true) {
      const fido = new FidoKey({ authenticator, touched });
      const address = system.plug({ serial: null, interfaces: { fido } });
      await attached(1);
      const unplug = async () => {
        system.unplug(address);
        await attached(0);
      };
      return { fido, key: (await keys.list())[0]!, unplug };
    },
    enroll: (key: Key) => new KeyEnrollment(parts, options).handle(key),
  };
}

async function bySerial(serialNumber: string | null) {
  if (serialNumber === null) return null;
  const { list } = await registry('listDevices', { query: { serialNumber } as never });
  return list.find(one => one.serialNumber === serialNumber) ?? null;
}

test(`${KEYS} keys of one model at two stations, with seed ${SEED}`, { timeout: 600_000 }, async () => {
  const keys = Array.from({ length: KEYS }, (_, at) => ({
    number: `SK-${String(at).padStart(4, '0')}`,
    authenticator: new TestAuthenticator({ root, aaguid: AAGUID }),
    enrolled: false,
    inUse: false,
  }));
  const visits = keys.flatMap((_, at) => Array(2 + pick(2)).fill(at) as number[]);
  for (let at = visits.length - 1; at > 0; at--) {
    const other = pick(at + 1);
    [visits[at], visits[other]] = [visits[other]!, visits[at]!];
  }
  const times: number[] = [];
  const counts = { registered: 0, recognized: 0, confused: 0, refused: 0, cut: 0 };
  async function visit({ recognition, plug, enroll }: Awaited<ReturnType<typeof stationOf>>, at: number) {
    const one = keys[at]!;
    // A key is at one station at a time.
    while (one.inUse) await new Promise(resolve => setImmediate(resolve));
    one.inUse = true;
    const isCut = !one.enrolled && random() < 0.1;
    const { key, unplug } = await plug(one.authenticator, !isCut);
    const began = performance.now();
    const found = await recognition.recognized(key);
    if (one.enrolled) {
      times.push(performance.now() - began);
      counts[found.serialNumber === one.number ? 'recognized' : 'confused'] += 1;
    } else if (found.serialNumber !== null) counts.confused += 1;
    else if (isCut) {
      const enrolling = enroll(await recognition.numbered(key, one.number));
      await unplug();
      expect((await enrolling).result).toBe('failed');
      counts.cut += 1;
    } else {
      const known = keys.find(({ enrolled }) => enrolled);
      if (known && random() < 0.1) {
        const wrong = await enroll(await recognition.numbered(key, known.number));
        expect(wrong).toMatchObject({ result: 'failed', message: 'number taken' });
        counts.refused += 1;
      }
      const outcome = await enroll(await recognition.numbered(key, one.number));
      expect(outcome).toMatchObject({ result: 'registered', serialNumber: one.number });
      one.enrolled = true;
      counts.registered += 1;
    }
    await unplug();
    one.inUse = false;
  }
  async function work(station: Awaited<ReturnType<typeof stationOf>>) {
    for (let at = visits.pop(); at !== undefined; at = visits.pop()) await visit(station, at);
  }
  await Promise.all([work(await stationOf()), work(await stationOf())]);
  // Keys whose last visit was cut are enrolled now.
  const last = await stationOf();
  for (const [at, { enrolled }] of keys.entries()) if (!enrolled) await visit(last, at);
  for (const [at, { enrolled }] of keys.entries()) if (!enrolled) await visit(last, at);
  const median = times.sort((a, b) => a - b)[times.length >> 1]!;
  console.info(
    `${JSON.stringify(counts)}; recognition: median ${Math.round(median)} ms, most ${Math.round(times.at(-1)!)} ms`,
  );
  expect(counts).toMatchObject({ registered: KEYS, confused: 0 });
  // Each device is the one of its key: none was registered twice.
  const numbers = new Set<string>();
  for (const { number } of keys) if ((await bySerial(number)) !== null) numbers.add(number);
  const statistics = await registry('getStatistics', { query: {} });
  expect([numbers.size, statistics.total]).toEqual([KEYS, KEYS]);
});
