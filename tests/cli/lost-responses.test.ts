/** Writes whose response is lost: sent again with the same key if the server accepts keys, and carried out once. */

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerRefusal, Unreachable } from '../../src/cli/client/failures.ts';
import { sendKeyed } from '../../src/cli/client/request-retry.ts';
import { type Daemon, discard, startDaemon } from './program.ts';
import { relayTo } from './relay.ts';

const lost = () => new Unreachable('the connection was lost', true);
const refused = () => new Unreachable('no server answers', false);

describe('sending a write', () => {
  /** Sends with these outcomes of the attempts and of the questions whether the server accepts keys. */
  async function sent(outcomes: readonly unknown[], accepts: readonly unknown[] = [true]) {
    const [attempts, questions] = [[...outcomes], [...accepts]];
    const seen = { sent: 0, pauses: [] as number[], notices: [] as string[] };
    const take = async (from: unknown[]) => {
      const next = from.length > 1 ? from.shift() : from[0];
      if (next instanceof Error) throw next;
      return next;
    };
    const result = await sendKeyed({
      send: () => {
        seen.sent++;
        return take(attempts);
      },
      acceptsKeys: async () => (await take(questions)) as boolean,
      stillAccepts: async () => (await take(questions)) as boolean,
      locate: async () => undefined,
      pause: async milliseconds => void seen.pauses.push(milliseconds),
      notice: text => void seen.notices.push(text),
    }).catch(error => error);
    return { ...seen, result };
  }

  test('sends it once if there is a response', async () => {
    expect(await sent(['done'])).toEqual({ sent: 1, pauses: [], notices: [], result: 'done' });
  });

  test('sends it again after a loss, and shows this in one line', async () => {
    const seen = await sent([lost(), lost(), 'done']);
    expect(seen).toMatchObject({ sent: 3, pauses: [500, 1000], result: 'done' });
    expect(seen.notices).toEqual([expect.stringContaining('the connection was lost; sending the request again')]);
  });

  test('gives up after six attempts in 16 seconds of waiting, with the first loss', async () => {
    const first = lost();
    const seen = await sent([first, refused()]);
    expect(seen.result).toBe(first);
    expect(seen.sent).toBe(6);
    expect(seen.pauses.reduce((sum, pause) => sum + pause)).toBe(15_500);
  });

  test.each([
    ['a server that does not accept keys', [false]],
    ['a server that could not be asked before', [refused(), true]],
    ['a server that does not accept keys any more', [true, false]],
  ])('never sends it again to %s', async (_what, accepts) => {
    const first = lost();
    expect(await sent([first, 'done twice'], accepts)).toMatchObject({ sent: 1, result: first });
  });

  test('asks again if the server is away, and sends it when it is back', async () => {
    const seen = await sent([lost(), 'done'], [true, refused(), lost(), true]);
    expect(seen).toMatchObject({ sent: 2, pauses: [500, 1000, 2000], result: 'done' });
  });

  test('waits while the first attempt is running, but not for a limit', async () => {
    expect(await sent([lost(), new ServerRefusal(429, 'running', { waitSeconds: 1 }), 'done'])).toMatchObject({
      result: 'done',
    });
    const limited = new ServerRefusal(429, 'limit', { waitSeconds: 40 });
    expect(await sent([lost(), limited])).toMatchObject({ sent: 2, result: limited });
  });

  test('does not repeat what was refused, never arrived or took too long', async () => {
    for (const error of [new ServerRefusal(2002, 'active'), refused(), new Unreachable('slow', true, null, true)])
      expect(await sent([error, 'done'])).toMatchObject({ sent: 1, result: error });
  });
});

describe('a command', () => {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => discard(daemon));

  const writes = /register|generate-activation-code|usage|lock$|users$/;
  const run = (url: string, args: readonly string[]) =>
    daemon.run([...args, '--server', url, '--json'], { env: { DEVMGR_TOKEN: daemon.token } });

  /** Executes the request; the program gets no response. */
  async function loseResponse(forward: () => Promise<void>, answer: ServerResponse): Promise<void> {
    Object.defineProperty(answer, 'write', { value: () => true });
    Object.defineProperty(answer, 'writeHead', { value: () => answer });
    Object.defineProperty(answer, 'end', { value: () => answer.destroy() });
    await forward();
  }

  /** A proxy that loses the first `count` responses to writes. */
  async function losing(count: number) {
    const seen = { requests: 0 };
    const url = await relayTo(
      daemon.url,
      (forward, answer) => void (seen.requests++ < count ? loseResponse(forward, answer) : forward()),
      writes,
    );
    return { url, seen };
  }
  const eventsOf = async (deviceId: string, type: string) =>
    (await daemon.call('GET', `/api/events?deviceId=${deviceId}&types=${type}`)).list.length as number;

  test('registers once, and prints the code of that registration', async () => {
    const { url, seen } = await losing(1);
    const args = ['register', '--type', 'UKEY', '--serial', 'LOST-1', '--manufacturer', 'A', '--model', 'B'];
    const { code, json } = await run(url, args);
    expect({ code, requests: seen.requests }).toEqual({ code: 0, requests: 2 });
    const device = await daemon.call('GET', `/api/devices/${json.deviceId}`);
    expect(device).toMatchObject({ serialNumber: 'LOST-1', activationCode: json.activationCode });
  });

  test('replaces a code once, also if two responses are lost', async () => {
    const { deviceId } = await daemon.register('LOST-2');
    const { url, seen } = await losing(2);
    const { code, json } = await run(url, ['replace-code', deviceId, '--reason', 'letter lost']);
    expect({ code, requests: seen.requests }).toEqual({ code: 0, requests: 3 });
    expect(await eventsOf(deviceId, 'ACTIVATION_CODE_GENERATED')).toBe(1);
    expect((await daemon.call('GET', `/api/devices/${deviceId}`)).activationCode).toBe(json.activationCode);
  });

  test('gets the refusal of its first attempt', async () => {
    const { deviceId } = await daemon.register('LOST-3');
    const { url } = await losing(1);
    const { code, stderr } = await run(url, [
      'register',
      '--type',
      'UKEY',
      '--serial',
      'LOST-3',
      '--manufacturer',
      'A',
      '--model',
      'B',
    ]);
    expect(code).toBe(6);
    expect(stderr).toContain(deviceId);
  });

  test('tries again if a proxy answers 503', async () => {
    let requests = 0;
    const url = await relayTo(
      daemon.url,
      (forward, answer) => void (requests++ === 0 ? answer.writeHead(503).end('<html>') : forward()),
      writes,
    );
    const { deviceId } = await daemon.register('LOST-4');
    expect((await run(url, ['replace-code', deviceId, '--reason', 'letter lost'])).code).toBe(0);
    expect(requests).toBe(2);
    expect(await eventsOf(deviceId, 'ACTIVATION_CODE_GENERATED')).toBe(1);
  });

  test('does not repeat a write on a server that ignores keys', async () => {
    const { deviceId } = await daemon.register('LOST-5');
    let requests = 0;
    const url = await relayTo(
      daemon.url,
      (forward, answer) => {
        if (!writes.test(answer.req.url!)) {
          const data = { service: 'devmgr', version: '0.0.1', status: 'ok', ready: true };
          answer.writeHead(200).end(JSON.stringify({ code: 200, message: 'success', data }));
          return;
        }
        requests++;
        void loseResponse(forward, answer);
      },
      new RegExp(`health|${writes.source}`),
    );
    const { code } = await run(url, ['replace-code', deviceId, '--reason', 'letter lost']);
    expect({ code, requests }).toEqual({ code: 9, requests: 1 });
    expect(await eventsOf(deviceId, 'ACTIVATION_CODE_GENERATED')).toBe(1);
  });

  test('ends with 130 if it is interrupted between two attempts', async () => {
    const { deviceId } = await daemon.register('LOST-6');
    const { url, seen } = await losing(99);
    const args = ['replace-code', deviceId, '--reason', 'letter lost', '--server', url];
    const running = daemon.start(args, { env: { DEVMGR_TOKEN: daemon.token } });
    await running.until('stderr', /sending the request again/);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr.match(/sending the request again/g)).toHaveLength(1);
    expect(seen.requests).toBeLessThan(6);
    expect(await eventsOf(deviceId, 'ACTIVATION_CODE_GENERATED')).toBe(1);
  });
});
