/** Runs that are killed while a batch is on the way: what --resume makes of the batch, with and without its stored response. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';
import { loseResponse, relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let runs = 0;
const prefix = () => `GONE${++runs}`;
const header = 'deviceType,serialNumber,manufacturer,model\n';
const rowsOf = (p: string, count: number) =>
  Array.from({ length: count }, (_, n) => `UKEY,${p}-${n},Acme,One\n`).join('');

function files(content: string) {
  const folder = temporaryFolder();
  const file = join(folder, 'keys.csv');
  writeFileSync(file, content);
  return { file, out: join(folder, 'codes.jsonl') };
}

const resultsIn = (out: string) =>
  readFileSync(out, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));

/** A daemon of an earlier version: it ignores keys, and does not say that it accepts them. */
const withoutKeys = (onBatch: (forward: () => Promise<void>, answer: ServerResponse) => void) =>
  relayTo(
    daemon.url,
    (forward, answer) => {
      delete answer.req.headers['idempotency-key'];
      if (!answer.req.url!.includes('health')) return onBatch(forward, answer);
      const data = { service: 'devmgr', version: '0.0.1', status: 'ok', ready: true };
      return void answer.writeHead(200).end(JSON.stringify({ code: 200, message: 'success', data }));
    },
    /health|batch-/,
  );

const at = (url: string) => ({ env: { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url } });

/** Kills a run when its first batch is at the daemon; `executed` shows whether the daemon carries it out. */
async function killed(args: readonly string[], executed: boolean): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const url = await relayTo(daemon.url, (forward, answer) => {
    if (executed) loseResponse(forward, answer).then(reached.resolve, reached.reject);
    else reached.resolve();
  });
  const running = daemon.start(args, at(url));
  await reached.promise;
  running.child.kill('SIGKILL');
  await running.ended;
}

const register = (serialNumber: string, manufacturer: string) =>
  daemon.call('POST', '/api/devices/register', { deviceType: 'UKEY', serialNumber, manufacturer, model: 'One' });

const deviceOf = async (serial: string) =>
  (await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).list[0] as {
    deviceId: string;
    activationCode: string | null;
    status: string;
  };

describe('register --resume', () => {
  test('gets the results of the first attempt, also the codes that were used since', async () => {
    const p = prefix();
    const { file, out } = files(header + rowsOf(p, 3));
    const args = ['register', '--file', file, '--out', out];
    await killed(args, true);
    const { deviceId, activationCode } = await deviceOf(`${p}-1`);
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'u' });
    expect((await daemon.run([...args, '--resume'], at(daemon.url))).code).toBe(0);
    expect(resultsIn(out)).toMatchObject([{ line: 2 }, { line: 3, deviceId, activationCode }, { line: 4 }]);
    expect(resultsIn(out).every(({ status, activationCode: code }) => status === 'success' && code)).toBe(true);
  });

  test('forms the batch as it was sent, whatever --batch-size is now', async () => {
    const p = prefix();
    const { file, out } = files(header + rowsOf(p, 12));
    const args = ['register', '--file', file, '--out', out, '--batch-size'];
    await killed([...args, '4'], true);
    const { deviceId, activationCode } = await deviceOf(`${p}-0`);
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'u' });
    expect((await daemon.run([...args, '5', '--resume'], at(daemon.url))).code).toBe(0);
    expect(resultsIn(out).map(({ line }) => line)).toEqual(Array.from({ length: 12 }, (_, n) => n + 2));
    expect(resultsIn(out)[0]).toMatchObject({ status: 'success', activationCode });
  });

  test('leaves a serial number that someone else has registered a failure, if the batch was not carried out', async () => {
    const p = prefix();
    const { file, out } = files(header + rowsOf(p, 3));
    const args = ['register', '--file', file, '--out', out];
    await killed(args, false);
    await register(`${p}-1`, 'Acme');
    expect((await daemon.run([...args, '--resume'], at(daemon.url))).code).toBe(7);
    expect(resultsIn(out)).toMatchObject([
      { status: 'success' },
      { status: 'failed', code: 2006 },
      { status: 'success' },
    ]);
  });

  test.each([3, 30])(
    'without a stored response, finds %i devices by serial number, with their codes while they are INACTIVE',
    async count => {
      const p = prefix();
      await register(`${p}-other`, 'Other');
      const more = `UKEY,${p}-0,Acme,One\nUKEY,${p}-other,Acme,One\nUKEY,,Acme,One\n`;
      const { file, out } = files(header + rowsOf(p, count) + more);
      const args = ['register', '--file', file, '--out', out];
      await killed(args, true);
      const { deviceId: used, activationCode: usedCode } = await deviceOf(`${p}-1`);
      await daemon.call('POST', '/api/devices/activate', { deviceId: used, activationCode: usedCode, userId: 'u' });
      const url = await withoutKeys(forward => void forward());
      const resumed = await daemon.run([...args, '--resume'], at(url));
      expect(resumed.code).toBe(7);
      expect(resumed.stderr).toContain(`2 of ${count + 3} lines failed, ${count} devices are registered, 1 repeated`);
      const results = resultsIn(out);
      for (const [n, result] of results.slice(0, count).entries()) {
        const { deviceId, activationCode } = await deviceOf(`${p}-${n}`);
        const code = n === 1 ? {} : { activationCode };
        expect(result).toEqual({
          line: n + 2,
          serialNumber: `${p}-${n}`,
          status: 'success',
          deviceId,
          ...code,
          message: 'success',
        });
      }
      expect(results.slice(count).map(({ status, code }) => [status, code])).toEqual([
        ['repeated', undefined],
        ['failed', 2006],
        ['failed', 1001],
      ]);
    },
  );

  test('finds the devices also if the batch is not the same any more', async () => {
    const p = prefix();
    const { file, out } = files(header + rowsOf(p, 3));
    const args = ['register', '--file', file, '--out', out];
    await killed(args, true);
    expect((await daemon.run([...args, '--resume', '--tag', 'lot=7'], at(daemon.url))).code).toBe(0);
    const { activationCode } = await deviceOf(`${p}-2`);
    expect(resultsIn(out)[2]).toMatchObject({ status: 'success', activationCode });
  });
});

test('a lost batch is registered once by a daemon that ignores keys', async () => {
  const p = prefix();
  const { file } = files(header + rowsOf(p, 3));
  let batches = 0;
  const url = await withoutKeys((forward, answer) => {
    if (++batches > 1) void forward();
    else void loseResponse(forward, answer).then(() => answer.destroy());
  });
  const { code, rows } = await daemon.run(['register', '--file', file, '--json'], at(url));
  expect([code, batches]).toEqual([0, 2]);
  for (const [n, { activationCode }] of rows.entries())
    expect((await deviceOf(`${p}-${n}`)).activationCode).toBe(activationCode);
});

describe('a change of many devices', () => {
  async function registered(count: number): Promise<string[]> {
    const p = prefix();
    const devices = Array.from({ length: count }, (_, n) => daemon.register(`${p}-${n}`));
    return (await Promise.all(devices)).map(({ deviceId }) => deviceId);
  }

  test('gets the results of the first attempt with --resume, and is not made twice', async () => {
    const ids = await registered(2);
    const { out } = files('');
    const args = ['replace-code', ...ids, '--reason', 'lost', '--out', out];
    await killed(args, true);
    const { activationCode } = await daemon.call('GET', `/api/devices/${ids[0]}`);
    expect((await daemon.run(['replace-code', ids[1]!, '--reason', 'lost again'], at(daemon.url))).code).toBe(0);
    const resumed = await daemon.run([...args, '--resume'], at(daemon.url));
    expect(resumed.code).toBe(0);
    expect(resultsIn(out)).toMatchObject([{ status: 'success', activationCode }, { status: 'success' }]);
    expect((await daemon.call('GET', `/api/devices/${ids[0]}`)).activationCode).toBe(activationCode);
    expect((await daemon.call('GET', `/api/devices/${ids[1]}`)).activationCode).not.toBe(
      resultsIn(out)[1].activationCode,
    );
  });

  test('is not sent again to a daemon that ignores keys, except by --resume', async () => {
    const ids = await registered(2);
    const { out } = files('');
    let batches = 0;
    const url = await withoutKeys((forward, answer) => {
      if (++batches > 1) void forward();
      else void loseResponse(forward, answer).then(() => answer.destroy());
    });
    const args = ['deactivate', ...ids, '--yes', '--reason', 'r', '--password-stdin', '--out', out];
    const input = `${adminPassword}\n`;
    const first = await daemon.run(args, { ...at(url), input });
    expect([first.code, batches]).toEqual([9, 1]);
    expect(first.stderr).toMatch(/the devices that were sent last may have been changed.*--resume/s);
    const resumed = await daemon.run([...args, '--resume'], { ...at(url), input });
    expect([resumed.code, batches]).toEqual([7, 2]);
    expect(resultsIn(out).map(({ deviceId, code }) => [deviceId, code])).toEqual(ids.map(id => [id, 2005]));
  });
});
