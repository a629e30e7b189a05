/** A run of the station without a browser: what is bound to whom, what is said, and what is kept. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { figuresOf, resultCells, type StoredRun } from '../../console/pages/station/results.ts';
import { readRosterBytes } from '../../console/pages/station/roster-file.ts';
import { type RunStore, type StationRegistry, StationRun } from '../../console/pages/station/run.ts';
import type { DeviceDetail } from '../../src/contract/device-shapes.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { checksOf } from '../../src/enrollment/line/checks.ts';
import type { Person } from '../../src/enrollment/line/people.ts';
import { type AnotherKey, PersonEnrollment } from '../../src/enrollment/line/person-enrollment.ts';
import type { CountedKey, EnrollmentReason, EnrollmentRegistry, PersonKey } from '../../src/enrollment/registry.ts';
import { CsvReader } from '../../src/tables/csv-reader.ts';

const keyOf = (serialNumber: string | null, more: Partial<Key> = {}) =>
  ({ keyId: `id-${serialNumber}`, deviceType: 'UKEY', serialNumber, problem: null, ...more }) as Key;
const person = (userId: string, more: Partial<Person> = {}): Person => ({
  userId,
  name: null,
  type: null,
  wanted: 1,
  ...more,
});

const noOther: AnotherKey = { isAllowed: false, isCounted: () => false, unfinished: null };

/** The judge of the station before a registry that has the device. `register` and `activate` see each request. */
function judgeBefore(device: Partial<DeviceDetail> | null, requests: Partial<EnrollmentRegistry> = {}) {
  const registry = {
    deviceOf: async () => device as DeviceDetail | null,
    failureOf: () => ({ isOfOneKey: true, isAway: false, isDuplicate: false, isLost: false }),
    keysOf: async () => [],
    withClaims: async (key: Key) => key,
    identityPolicy: async () => 'where-needed',
    recognition: { carried: async () => null },
    recordClaims: () => undefined,
    ...requests,
  } as unknown as EnrollmentRegistry;
  const words = (reason: EnrollmentReason): string => {
    if (reason.type === 'other key') return 'another key';
    if (reason.type === 'activation refused') return reason.why ?? '';
    return reason.type === 'has keys' ? reason.keys.map(({ serialNumber }) => serialNumber).join() : '';
  };
  const options = { manufacturer: null, model: null, dryRun: false, proof: null, tags: null };
  return new PersonEnrollment({ registry, words }, options);
}

describe('a key', () => {
  const device = (status: DeviceDetail['status'], userId: string | null = null) => ({
    deviceId: 'DEV-1' as DeviceDetail['deviceId'],
    deviceType: 'UKEY' as const,
    status,
    userId,
  });
  type Known = { readonly device?: Partial<DeviceDetail>; readonly counted?: CountedKey };
  const countedFor = (userId: string, where: CountedKey['where']) => ({ counted: { userId, where } });
  test.each<[string, Key, Known, string | null, string]>([
    ['that is new passes', keyOf('A'), {}, null, 'serial type free'],
    ['that is registered and INACTIVE passes', keyOf('A'), { device: device('INACTIVE') }, null, 'serial type free'],
    ['of the same person passes', keyOf('A'), { device: device('ACTIVE', 'ann') }, null, 'serial type free'],
    ['of another person fails', keyOf('A'), { device: device('ACTIVE', 'bob') }, 'bound to another person', '-free'],
    ['that is locked fails', keyOf('A'), { device: device('LOCKED', 'ann') }, 'LOCKED', '-free'],
    ['that is retired fails', keyOf('A'), { device: device('DEACTIVATED') }, 'DEACTIVATED', '-free'],
    ['that was bound before fails', keyOf('A'), countedFor('ann', 'registry'), 'counted before', '-free'],
    ['that another person had is looked up', keyOf('A'), countedFor('bob', 'registry'), null, 'serial type free'],
    ['that another person has in a dry run fails', keyOf('A'), countedFor('bob', 'dry run'), 'counted before', '-free'],
    ['that waits for another person fails', keyOf('A'), countedFor('bob', 'spool file'), 'counted before', '-free'],
    ['without a serial number fails', keyOf(null), {}, 'serial number unreadable', '-serial'],
    ['of another type fails', keyOf('A', { deviceType: 'SIMKEY' }), {}, 'wrong type', '-type'],
  ])('%s', async (_, key, { device: known = null, counted = null }, failure, checks) => {
    const verdict = await judgeBefore(known).check(key, person('ann', { type: 'UKEY' }), counted, noOther);
    expect(verdict.failure).toBe(failure);
    const shown = checksOf(verdict).map(({ name, passed }) => `${passed ? '' : '-'}${name}`);
    expect(checks.startsWith('-') ? shown.at(-1) : shown.join(' ')).toBe(checks);
  });
});

/** State that several tabs of one browser share, and requests that replace those of the registry. */
interface StationMore {
  readonly bound: string[];
  readonly browser: { begun?: Readonly<Record<string, string>> };
  readonly requests: Partial<EnrollmentRegistry>;
}

/** A station whose registry keeps what is bound; `refuses` are serial numbers that it refuses. */
function station(stored: StoredRun | null = null, refuses: readonly string[] = [], more: Partial<StationMore> = {}) {
  const { bound = [], browser = {}, requests = {} } = more;
  const sounds: string[] = [];
  let kept = stored;
  const store: RunStore = {
    read: () => kept,
    write: run => {
      kept = run;
    },
  };
  const registry: StationRegistry = judgeBefore(null, {
    register: async ({ serialNumber }) => {
      if (refuses.includes(serialNumber)) throw new Error('it is refused');
      const deviceId = `DEV-${serialNumber}` as DeviceDetail['deviceId'];
      return { deviceId, activationCode: 'CODE' as DeviceDetail['activationCode'] & string, status: 'INACTIVE' };
    },
    activate: async ({ deviceId, userId }) => {
      bound.push(`${userId} ${deviceId.slice('DEV-'.length)}`);
      return { status: 'ACTIVE', userId };
    },
    ...requests,
  });
  const begun = {
    read: () => browser.begun ?? {},
    write: (keys: Readonly<Record<string, string>>) => {
      browser.begun = keys;
    },
  };
  const isAttached = async () => true;
  const issueKey = async () => ({ providers: {}, reason: 'nothing is issued here' });
  const run = new StationRun({
    registry,
    issueKey,
    store,
    begun,
    now: () => 3_600_000,
    isAttached,
    sound: kind => sounds.push(kind),
  });
  return { run, bound, sounds, kept: () => kept };
}

/** The requests are answered. */
const answered = () => new Promise<void>(resolve => setImmediate(resolve));

describe('a tab that was closed', () => {
  test('during a binding leaves the key by name: its person gets no other one before r', async () => {
    const browser: StationMore['browser'] = {};
    const closed = station(null, [], { browser, requests: { activate: () => new Promise(() => undefined) } });
    closed.run.take({ type: 'badge', text: 'ann' });
    closed.run.plugged(keyOf('A'), true);
    await answered();
    closed.run.pulled('id-A', true);
    await answered();
    expect(browser.begun).toEqual({ A: 'ann' });

    const { run, bound } = station(null, [], { browser });
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('B'), true);
    await answered();
    const verdict = run.view.value.outcome?.verdict;
    expect([run.view.value.phase, verdict?.failure, verdict?.row.message]).toEqual(['failed', 'has another key', 'A']);
    run.take({ type: 'redo' });
    await expect.poll(() => run.view.value.phase, { timeout: 10_000 }).toBe('ready');
    run.take({ type: 'enter' });
    await answered();
    expect([bound, browser.begun]).toEqual([['ann B'], {}]);
  });

  test('after a binding is no reason to give the person another key: the registry has it', async () => {
    const keysOf = async () => [
      { deviceId: 'DEV-A', serialNumber: 'A', deviceType: 'UKEY', activatedAt: null } as PersonKey,
    ];
    const { run, bound } = station(null, [], { requests: { keysOf } });
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('B'), true);
    await answered();
    expect(run.view.value.outcome?.verdict).toMatchObject({ failure: 'has another key', row: { message: 'A' } });
    run.pulled('id-B', true);
    run.plugged(keyOf('A'), true);
    await answered();
    expect([run.view.value.phase, bound]).toEqual(['ready', []]);
  });
});

describe('without a roster', () => {
  test('a badge, a key and its unplugging bind it once; the next badge is for the next key', async () => {
    const { run, bound, sounds } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    await answered();
    expect([run.view.value.phase, bound]).toEqual(['ready', []]);
    run.pulled('id-A', true);
    await answered();
    expect([run.view.value.phase, run.view.value.person, bound]).toEqual(['empty', null, ['ann A']]);
    expect(run.view.value.outcome).toMatchObject({ isCommit: true, verdict: { failure: null } });
    run.plugged(keyOf('A'), true);
    run.take({ type: 'badge', text: 'ann' });
    await answered();
    expect(run.view.value.outcome?.verdict.failure).toBe('counted before');
    expect(sounds).toEqual(['good', 'good', 'bad']);
  });

  test('Esc before leaves nothing behind', async () => {
    const { run, bound } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    await answered();
    run.take({ type: 'undo' });
    run.take({ type: 'enter' });
    run.pulled('id-A', true);
    await answered();
    expect([bound, run.view.value.results, run.view.value.person?.userId]).toEqual([[], [], 'ann']);
  });

  test('a key whose unplugging is reported after a badge is not bound', async () => {
    const { run, bound } = station();
    run.plugged(keyOf('A'), true);
    run.take({ type: 'badge', text: 'ann' });
    await answered();
    run.pulled('id-A', true);
    await answered();
    expect([bound, run.view.value.results.map(({ failure }) => failure)]).toEqual([[], ['pulled too early']]);
  });

  test('a key that a new list of keys lacks is gone and not bound; a key that the list has stays', async () => {
    const { run, bound } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    await answered();
    run.keepOnly(new Set(['id-A']));
    expect(run.view.value.phase).toBe('ready');
    run.keepOnly(new Set());
    expect([run.view.value.phase, bound]).toEqual(['empty', []]);
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('B'), true);
    await answered();
    run.pulled('id-B', true);
    await answered();
    expect(bound).toEqual(['ann B']);
  });

  test('two keys are not bound, and one of them can be ignored', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { run, bound } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    run.plugged(keyOf('B'), true);
    await answered();
    run.take({ type: 'enter' });
    expect([run.view.value.phase, bound]).toEqual(['crowded', []]);
    run.ignore('id-A');
    await answered();
    expect(run.view.value.phase).toBe('checking');
    await vi.advanceTimersByTimeAsync(1000);
    expect([run.view.value.phase, run.view.value.keys.map(key => key.serialNumber)]).toEqual(['ready', ['B']]);
    run.pulled('id-A', true);
    run.pulled('id-B', true);
    await answered();
    expect(bound).toEqual(['ann B']);
  });

  test('a key whose check has passed cannot be ignored: that would count as unplugging', async () => {
    const { run, bound } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    await answered();
    run.ignore('id-A');
    await answered();
    expect([run.view.value.phase, bound]).toEqual(['ready', []]);
  });

  test.each(['pulled', 'kept'])('a key that was out of sight is not bound (%s)', async how => {
    const { run, bound } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    await answered();
    if (how === 'pulled') run.pulled('id-A', false);
    else {
      run.take({ type: 'lost' });
      run.plugged(keyOf('A'), false);
      run.pulled('id-A', true);
    }
    await answered();
    expect([bound, run.view.value.phase]).toEqual([[], 'empty']);
  });

  test('a key that is unplugged during its check fails', async () => {
    const { run, bound } = station();
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    run.pulled('id-A', true);
    await answered();
    expect([bound, run.view.value.results.map(({ failure }) => failure)]).toEqual([[], ['pulled too early']]);
  });

  test('a key that the registry refuses leaves the person open', async () => {
    const { run } = station(null, ['A']);
    run.take({ type: 'badge', text: 'ann' });
    run.plugged(keyOf('A'), true);
    await answered();
    run.take({ type: 'enter' });
    await answered();
    expect(run.view.value.outcome?.verdict.failure).toBe('refused');
    expect(run.view.value.person?.userId).toBe('ann');
  });
});

describe('with a roster', () => {
  const people = [person('ann', { name: 'Ann' }), person('bob', { wanted: 2 })];
  const bind = async (run: StationRun, serial: string) => {
    run.plugged(keyOf(serial), true);
    await answered();
    run.pulled(`id-${serial}`, true);
    await answered();
  };

  test('people are next in order, and a reload continues', async () => {
    const { run, bound, kept } = station();
    run.begin(people);
    await bind(run, 'A');
    await bind(run, 'B');
    expect(bound).toEqual(['ann A', 'bob B']);
    const later = station(kept());
    expect(later.run.view.value).toMatchObject({ person: { userId: 'bob' }, done: 1, roster: { finished: 1 } });
    await bind(later.run, 'C');
    expect(later.run.view.value).toMatchObject({ person: null, roster: { finished: 2 }, waiting: { count: 0 } });
  });

  test('that is removed and loaded again, keys that people have count', async () => {
    const { run } = station();
    run.begin(people);
    await bind(run, 'A');
    run.begin(null);
    run.begin(people);
    expect(run.view.value.person?.userId).toBe('bob');
  });

  test('a key that is in the reader when it is loaded is for no person', async () => {
    const { run, bound } = station();
    run.plugged(keyOf('A'), true);
    run.begin(people);
    run.pulled('id-A', true);
    await answered();
    expect(bound).toEqual([]);
  });

  test('counts and rows of the file', async () => {
    const { run } = station();
    run.begin(people);
    run.plugged(keyOf(null, { problem: '=cmd' }), true);
    await answered();
    run.pulled('id-null', true);
    await bind(run, 'A');
    const { passed, failed, reasons, yield: part } = figuresOf(run.view.value, 7_200_000);
    expect([passed, failed, [...reasons], part]).toEqual([1, 1, [['serial number unreadable', 1]], 50]);
    expect(run.view.value.results.map(resultCells)).toEqual([
      ['1970-01-01T01:00:00.000Z', 'failed', 'ann', 'Ann', null, 'UKEY', null, 'serial number unreadable', '=cmd'],
      ['1970-01-01T01:00:00.000Z', 'bound', 'ann', 'Ann', 'A', 'UKEY', 'DEV-A', null, null],
    ]);
  });
});

const readRoster = (text: string) => readRosterBytes(new TextEncoder().encode(text), null, 'people.csv');

describe('the file of a roster', () => {
  test('is read as spreadsheets write it', async () => {
    const text = 'User-ID;Name;Count;Type\r\n"ann";"Meier; ""Ann""\r\nB";2;ukey\r\n\r\n\'=bob;;;\r\n';
    expect(await readRoster(text)).toMatchObject({
      people: [
        { userId: 'ann', name: 'Meier; "Ann"\nB', type: 'UKEY', wanted: 2 },
        { userId: '=bob', name: null, type: null, wanted: 1 },
      ],
      unused: [],
    });
  });

  test('may have further columns, in any place, which are named and not used', async () => {
    expect(await readRoster('room,userId,Building,name,room\n7,ann,B,Ann,8\n')).toMatchObject({
      people: [{ userId: 'ann', name: 'Ann', type: null, wanted: 1 }],
      unused: ['room', 'Building', 'room'],
    });
  });

  test('may name the number that is printed on the key of a person', async () => {
    const { people } = (await readRoster('userId,printed number,serial\nann,SK-1,77\nbob,,78\n')) as never;
    expect(people).toMatchObject([{ userId: 'ann', printedNumber: 'SK-1' }, { userId: 'bob' }]);
    expect(people[1]).not.toHaveProperty('printedNumber');
  });

  test('names who is marked as gone and which lines repeat one: neither gets a key', async () => {
    const text = 'userId,name,status\nju\u0308rgen,A,Active\nJ\u00fcrgen,B,Active\ngrace,Grace,Terminated\n';
    expect(await readRoster(text)).toEqual({
      people: [{ userId: 'ju\u0308rgen', name: 'A', type: null, wanted: 1 }],
      gone: [{ line: 4, userId: 'grace', mark: 'status: Terminated' }],
      repeated: [{ line: 3, userId: 'J\u00fcrgen', earlier: 2 }],
      unused: [],
    });
  });

  test.each([
    ['name\nAnn\n', null, 'fields missing'],
    ['userId,user\nann,ann\n', null, 'column twice'],
    ['userId,count\nann,1\n\nann,2\n', 4, 'person twice'],
    ['userId,type\nann,UKEY\nann,\n', 3, 'person twice'],
    ['userId,type\nann,CARD\n', 2, 'type'],
    ['userId,count\nann,101\n', 2, 'count'],
    ['userId,printedNumber,count\nann,SK-1,2\n', 2, 'printedNumber'],
    ['userId,printedNumber\nann,SK 1\n', 2, 'printedNumber'],
    [`userId\n"a\nb"\n`, 2, 'userId'],
    [`userId\n${'x'.repeat(129)}\n`, 2, 'userId'],
    ['userId,name\n,Ann\n', 2, 'userId'],
    ['userId\nann,Ann\n', 2, 'unread'],
    ['userId,name\nann,"Ann\nbob,Bob\n', 2, 'unread'],
    ['userId,name\nann,"Ann"x\n', 2, 'unread'],
    ['', null, 'empty'],
    ['userId\n', null, 'no rows'],
    [`userId\n${Array.from({ length: 100_001 }, (_, at) => `u${at}`).join('\n')}\n`, 100_002, 'lines'],
  ])('is refused as a whole, with the first invalid line (%#)', async (text, line, what) => {
    expect(await readRoster(text)).toMatchObject({ fault: { line, fault: { what } } });
  });

  test('in another encoding is refused with the line of its first invalid byte, until the encoding is named', async () => {
    const bytes = Buffer.from('7573657249640a6dfc6c6c65720a6df66c6c65720a', 'hex');
    expect(await readRosterBytes(bytes, null, 'people.csv')).toEqual({
      fault: { line: 2, fault: { what: 'encoding', encoding: 'utf-8' } },
    });
    expect(await readRosterBytes(bytes, 'windows-1252', 'people.csv')).toMatchObject({
      people: [{ userId: 'müller' }, { userId: 'möller' }],
    });
  });

  test('of a million commas takes linear time', () => {
    expect([...new CsvReader(',').read(`a\n${','.repeat(1_000_000)}\n`, true)].map(({ line }) => line)).toEqual([1, 2]);
  });
});
