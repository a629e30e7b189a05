/** Which of several addresses is asked, and what a failure at one of them means. */
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { AddressList, atFirstThatAnswers, listEndpoint } from '../../src/cli/client/addresses.ts';
import { openEnvelope } from '../../src/cli/client/envelope.ts';
import { isServerRefusal, NotServing, ServerRefusal, Unreachable } from '../../src/cli/client/failures.ts';
import type { HttpTransport } from '../../src/cli/client/transport.ts';
import { listIdentity } from '../../src/cli/settings/known-servers.ts';
import { quietClient } from '../support/stream-server.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [a, b, c] = ['http://a', 'http://b', 'http://c'] as const;
const refused = (address: string) => new Unreachable(`no server answers at ${address}`, false);
const lost = (address: string) => new Unreachable(`the connection to ${address} was lost`, true);
const silent = (address: string) => new Unreachable(`${address} did not send a response in time`, true, null, true);

function listWithClock() {
  const clock = { now: 0 };
  return { clock, list: new AddressList([a, b, c], () => clock.now) };
}

describe('the order', () => {
  test('is that of the user', () => {
    expect(listWithClock().list.order()).toEqual([a, b, c]);
  });

  test('begins with the address that answered last, and ends with one that failed for ten seconds', () => {
    const { clock, list } = listWithClock();
    list.failed(a, 'a is away');
    expect(list.order()).toEqual([b, c, a]);
    list.answered(c);
    expect(list.order()).toEqual([c, b, a]);
    clock.now = 10_000;
    expect(list.order()).toEqual([c, a, b]);
  });

  test('has every address, also if all have failed: the earliest failure first', () => {
    const { clock, list } = listWithClock();
    for (const address of [c, a, b]) {
      list.failed(address, 'away');
      clock.now += 1;
    }
    expect({ order: list.order(), hasFresh: list.hasFresh }).toEqual({ order: [c, a, b], hasFresh: false });
  });

  test('changes only if the address in use has failed', () => {
    const { list } = listWithClock();
    expect(list.answered(b)).toBeNull();
    expect(list.next).toBe(a);
    list.failed(a, 'a is away');
    expect([list.answered(b), list.answered(b)]).toEqual(['a is away; using http://b', null]);
    // A response that was under way when the address failed.
    expect(list.answered(a)).toBeNull();
    expect(list.next).toBe(b);
  });
});

describe('a request', () => {
  /** Sends it to addresses with these outcomes. */
  async function sent(outcomes: readonly unknown[], isRepeatable: boolean) {
    const asked: string[] = [];
    const notices: string[] = [];
    const { list } = listWithClock();
    const result = await atFirstThatAnswers(
      list,
      isRepeatable,
      text => void notices.push(text),
      async address => {
        const outcome = outcomes[asked.push(address) - 1];
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    ).catch(error => error);
    return { asked, notices, result, list };
  }

  test.each([
    ['refuses the connection', refused(a)],
    ['loses the connection', lost(a)],
    ['is silent', silent(a)],
    ['answers 503', new NotServing(500, 'starting')],
  ])('that can be repeated is sent to the next address if one %s, with one notice', async (_what, failure) => {
    const { asked, notices, result } = await sent([failure, 'done'], true);
    expect({ asked, result }).toEqual({ asked: [a, b], result: 'done' });
    expect(notices).toEqual([expect.stringMatching(/^.+; using http:\/\/b$/)]);
  });

  test.each([
    ['was lost', lost(a)],
    ['was answered with 503', new NotServing(500, 'starting')],
  ])('that cannot be repeated is not sent again if it %s', async (_what, failure) => {
    const { asked, result, list } = await sent([failure, 'done twice'], false);
    expect(asked).toEqual([a]);
    expect(result).toMatchObject({ kind: 'unreachable', maybeDone: true });
    expect(list.next).toBe(b);
  });

  test('that cannot be repeated is sent to the next address if it did not leave', async () => {
    expect(await sent([refused(a), 'done'], false)).toMatchObject({ asked: [a, b], result: 'done' });
  });

  test('that is refused is not sent again', async () => {
    const refusal = new ServerRefusal(2002, 'active');
    expect(await sent([refusal, 'done'], true)).toMatchObject({ asked: [a], result: refusal });
  });

  test('asks each address once, and names all failures', async () => {
    const { asked, result } = await sent([refused(a), lost(b), refused(c), 'done'], true);
    expect(asked).toEqual([a, b, c]);
    expect(result).toMatchObject({
      message: 'no server answers at http://a; the connection to http://b was lost; no server answers at http://c',
      maybeDone: true,
      timedOut: false,
    });
  });

  test('that was not answered in time may be sent again as long as another address is left', async () => {
    expect((await sent([silent(a)], false)).result).toMatchObject({ timedOut: false });
    expect((await sent([refused(a), refused(b), silent(c)], false)).result).toMatchObject({ timedOut: true });
  });
});

describe('a write', () => {
  /** Registers at two addresses; the first one fails. Keys of the requests by address. */
  async function register(accepting: readonly string[], failure = silent(a)) {
    const keys: string[] = [];
    const transport: HttpTransport = async ({ url, method, headers }) => {
      const data = { service: 'devmgr', version: '1', idempotencyKeys: accepting.includes(url.origin) };
      const response = { status: 200, headers: {} };
      if (method === 'GET') return { ...response, body: Readable.from([Buffer.from(answer(data))]) };
      keys.push(`${url.origin} ${headers['idempotency-key']}`);
      if (url.origin === a) throw failure;
      return { ...response, body: Readable.from([Buffer.from(answer({ deviceId: 'DEV-1', activationCode: 'X' }))]) };
    };
    const answer = (data: unknown) => JSON.stringify({ code: 200, message: 'success', data });
    const endpoint = listEndpoint([a, b]);
    const client = quietClient(a, 'token', new AbortController().signal, { endpoint, transport });
    const body = { deviceType: 'UKEY', serialNumber: 'S', manufacturer: 'M', model: 'M' } as const;
    const result = await client.call('registerDevice', { body }).catch(error => error);
    return { keys, result };
  }

  test('that was not answered in time is sent to the next address with the same key', async () => {
    const { keys, result } = await register([a, b]);
    expect(result).toMatchObject({ deviceId: 'DEV-1' });
    const [first, second] = keys.map(key => key.split(' '));
    expect([first![0], second![0], keys.length]).toEqual([a, b, 2]);
    expect(first![1]).toBe(second![1]);
  });

  test.each([[[a]], [[b]], [[]]])(
    'that was not answered in time is not sent again if only %j accept keys',
    async accepting => {
      const { keys, result } = await register(accepting);
      expect(keys.map(key => key.split(' ')[0])).toEqual([a]);
      expect(result).toMatchObject({ kind: 'unreachable', maybeDone: true });
    },
  );

  test('that did not leave is not sent to an address without keys if the first one accepts them', async () => {
    const { keys, result } = await register([a], refused(a));
    expect(keys.map(key => key.split(' ')[0])).toEqual([a]);
    expect(result).toMatchObject({ maybeDone: false, message: expect.stringContaining('does not accept') });
    expect((await register([], refused(a))).result).toMatchObject({ deviceId: 'DEV-1' });
  });
});

test('a response with HTTP 503 is a refusal with its code and text', () => {
  const response = { status: 503, headers: {}, text: JSON.stringify({ code: 500, message: 'starting' }) };
  let error: unknown;
  try {
    openEnvelope(response, a, []);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(NotServing);
  expect(isServerRefusal(error, 500)).toBe(true);
});

test('a list has the same name in another order', () => {
  const owner = { home: temporaryFolder(), profile: 'default' };
  expect([listIdentity(owner, [b, c, a]), listIdentity(owner, [a, b, c])]).toEqual([a, a]);
});
