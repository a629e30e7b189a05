/** `register --file --activate`: keys that people have already are registered and bound, without activation codes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';
import { loseResponse, relayTo } from './relay.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let runs = 0;
const prefix = () => `HELD${++runs}`;
const header = 'serialNumber,deviceType,manufacturer,model,userId\n';
const rowsOf = (p: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${p}-${n},UKEY,Acme,One,${n % 3 === 2 ? '' : `user${n}`}\n`).join('');

function files(content: string, name = 'keys.csv') {
  const folder = temporaryFolder();
  const file = join(folder, name);
  writeFileSync(file, content);
  return { file, out: join(folder, 'results.csv') };
}

const deviceOf = async (serial: string) =>
  (await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).list[0];
const at = (url: string) => ({ env: { DEVMGR_TOKEN: daemon.token, DEVMGR_SERVER: url } });

test('binds each key to its holder and registers the others, with codes for these alone', async () => {
  const p = prefix();
  const { file, out } = files(`${header}${rowsOf(p, 3)}`);
  expect((await daemon.run(['register', '--file', file, '--activate', '--out', out])).code).toBe(0);
  const [names, first, , third] = readFileSync(out, 'utf8').split('\n');
  expect(names).toBe('line,serialNumber,status,deviceId,activationCode,code,field,message,deviceStatus,userId');
  const { deviceId } = await deviceOf(`${p}-0`);
  expect(first).toBe(`2,${p}-0,success,${deviceId},,,,registered and activated,ACTIVE,user0`);
  expect(third).toMatch(/,success,DEV-\d+,([A-Z2-9]{4}-){3}[A-Z2-9]{4},,,registered,,$/);
  expect(await deviceOf(`${p}-1`)).toMatchObject({ status: 'ACTIVE', userId: 'user1' });
  expect(await deviceOf(`${p}-2`)).toMatchObject({ status: 'INACTIVE', userId: null });
  expect((await daemon.run(['daemon', 'audit', '--verify'])).code).toBe(0);
});

test('an export of an asset system is bound by its holders, and its other assets stay out', async () => {
  const p = prefix();
  const line = (tag: string, serial: string, category: string, holder: string) =>
    `"Example","","${tag}","${serial}","YubiKey 5C NFC","${category}","Deployed","${holder}","1,899.00"\n`;
  const { file } = files(
    `"Company","Asset Name","Asset Tag","Serial","Model","Category","Status","Checked Out To","Purchase Cost"\n${line('A-1', `${p}-1`, 'Security keys', '')}${line('A-2', `${p}-2`, 'Security keys', 'Ada Lovelace (ada)')}${line('A-3', `${p}-3`, 'Laptops', 'Ada Lovelace (ada)')}`,
  );
  const where = ['--where', 'Category=Security keys', '--type', 'UKEY', '--manufacturer', 'Yubico'];
  const { code, rows } = await daemon.run(['register', '--file', file, '--activate', ...where, '--json']);
  expect([code, rows.length]).toEqual([0, 2]);
  expect(rows[0]).not.toHaveProperty('deviceStatus');
  expect(rows[1]).toMatchObject({ serialNumber: `${p}-2`, deviceStatus: 'ACTIVE', userId: 'ada' });
  expect(rows[1]).not.toHaveProperty('activationCode');
  expect(await deviceOf(`${p}-3`)).toBeUndefined();
});

test('a dry run reports who gets which key, and changes nothing', async () => {
  const p = prefix();
  const { file } = files(`${header}${rowsOf(p, 1)}`);
  const { code, stdout } = await daemon.run(['register', '--file', file, '--activate', '--dry-run', '--csv']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('would be registered and bound to user0')]);
  expect(await deviceOf(`${p}-0`)).toBeUndefined();
});

test('a key of someone who has left is not registered', async () => {
  const p = prefix();
  const { personId } = await daemon.call('POST', '/api/people', { userName: `${p}.gone` });
  await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
  const { file } = files(`${header}${p}-1,UKEY,Acme,One,${p}.GONE\n${p}-2,UKEY,Acme,One,ada\n`);
  const { code, rows } = await daemon.run(['register', '--file', file, '--activate', '--json']);
  expect(code).toBe(7);
  expect(rows).toMatchObject([
    { status: 'failed', message: expect.stringContaining('has left') },
    { status: 'success' },
  ]);
  expect(await deviceOf(`${p}-1`)).toBeUndefined();
});

test('with --skip-existing, a key that is not bound to its holder is a difference', async () => {
  const p = prefix();
  const { file } = files(`${header}${rowsOf(p, 2)}`);
  await daemon.call('POST', '/api/devices/register', {
    ...{ deviceType: 'UKEY', serialNumber: `${p}-0`, manufacturer: 'Acme', model: 'One' },
  });
  const args = ['register', '--file', file, '--activate', '--skip-existing', '--json'];
  expect((await daemon.run(args)).rows).toMatchObject([
    { status: 'failed', field: 'userId', message: expect.stringContaining('user is none, not user0') },
    { status: 'success' },
  ]);
  expect((await daemon.run([...args, '--force'])).rows[1]).toMatchObject({ status: 'registered' });
});

test.each([
  ['with the stored response', false],
  ['without one', true],
])('a run that is killed after its batch was carried out is resumed %s', async (_how, isForgotten) => {
  const p = prefix();
  const { file, out } = files(`${header}${rowsOf(p, 4)}`);
  const args = ['register', '--file', file, '--activate', '--out', out];
  const reached = Promise.withResolvers<void>();
  const lossy = await relayTo(daemon.url, (forward, answer) => {
    if (isForgotten) delete answer.req.headers['idempotency-key'];
    loseResponse(forward, answer).then(reached.resolve, reached.reject);
  });
  const running = daemon.start(args, at(lossy));
  await reached.promise;
  running.child.kill('SIGKILL');
  await running.ended;
  expect((await daemon.run(['register', '--file', file, '--out', out, '--resume'])).code).toBe(2);
  expect((await daemon.run([...args, '--resume'], at(daemon.url))).code).toBe(0);
  const results = readFileSync(out, 'utf8').split('\n').slice(1, 5);
  expect(results).toEqual([
    expect.stringMatching(/success,DEV-\d+,,.*,ACTIVE,user0$/),
    expect.stringMatching(/success,DEV-\d+,,.*,ACTIVE,user1$/),
    expect.stringMatching(/success,DEV-\d+,[A-Z2-9-]{19},.*,,$/),
    expect.stringMatching(/success,DEV-\d+,,.*,ACTIVE,user3$/),
  ]);
  const { list } = await daemon.call('GET', `/api/devices/list?keyword=${p}-&size=10`);
  expect(list).toHaveLength(4);
  for (const { deviceId, userId } of list)
    expect((await daemon.call('GET', `/api/events?deviceId=${deviceId}`)).list).toHaveLength(userId === null ? 1 : 2);
});

test('a file without a column of holders is refused, with what to type', async () => {
  const { file } = files('serialNumber,deviceType,manufacturer,model,Wer\nX-1,UKEY,Acme,One,ada\n');
  const { code, stderr } = await daemon.run(['register', '--file', file, '--activate']);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/no column for userId.*--map userId=COLUMN/s)]);
});

test('a shipment and a lot of SIM cards are registered key by key', async () => {
  const first = `9${String(Date.now()).slice(-9)}00`;
  const shipment = files(
    `Order,Description,First serial,Last serial,Qty\nSO-1,5C NFC,${first},${first.slice(0, -1)}4,5\n`,
  );
  const args = ['--type', 'UKEY', '--manufacturer', 'Yubico', '--map', 'model=Description', '--json'];
  const { code, rows } = await daemon.run(['register', '--file', shipment.file, ...args]);
  expect([code, rows.length, rows[4]?.serialNumber]).toEqual([0, 5, `${first.slice(0, -1)}4`]);
  const lot = files(
    '* HEADER\nQuantity: 2\nvar_out: ICCID/IMSI/KI\n8949440000000000014 001010000000001 000102030405060708090A0B0C0D0E0F\n8949440000000000022 001010000000002 000102030405060708090A0B0C0D0E10\n',
    'lot.out',
  );
  const cards = await daemon.run(['register', '--file', lot.file, '--manufacturer', 'Example', '--model', 'M']);
  expect(cards.code).toBe(0);
  expect(`${cards.stdout}${cards.stderr}`).not.toContain('0A0B0C');
  expect(await deviceOf('8949440000000000022')).toMatchObject({ deviceType: 'SIMKEY', model: 'M' });
});
