import { describe, expect, test } from 'vitest';
import { CtapHidChannel } from '../../drivers/protocols/ctaphid.ts';
import { MAX_MESSAGE_BYTES, MessageAssembler, toPackets } from '../../drivers/protocols/ctaphid-packets.ts';
import { FakeCtapKey, hex, toHex } from '../support/fake-ukey.ts';

const never = new AbortController().signal;
const NONCE = Buffer.from('0011223344556677', 'hex');
const open = (key: FakeCtapKey, signal = never) => CtapHidChannel.open(key, signal, { nonce: NONCE });

describe('CTAPHID packets', () => {
  test('begin with the channel, the command with its top bit set and the length, and are 64 bytes long', () => {
    const [packet, ...others] = toPackets(0xffffffff, 0x06, NONCE);
    expect(others).toEqual([]);
    expect(toHex(packet!)).toBe(`ffffffff8600080011223344556677${'00'.repeat(49)}`);
  });

  test('continue with the channel and a sequence number', () => {
    const packets = toPackets(0x01020304, 0x42, new Uint8Array(57 + 59 + 1).fill(0xaa));
    expect(packets.map(packet => toHex(packet.subarray(0, 8)))).toEqual([
      '01020304c20075aa',
      '0102030400aaaaaa',
      '0102030401aa0000',
    ]);
  });

  test('carry a message of the maximum length', () => {
    const message = Uint8Array.from({ length: MAX_MESSAGE_BYTES }, (_, i) => i % 251);
    const assembler = new MessageAssembler(7);
    const results = toPackets(7, 0x10, message).map(packet => assembler.add(packet));
    expect(results.slice(0, -1).every(result => result === null)).toBe(true);
    expect(results.at(-1)).toEqual({ command: 0x10, data: message });
  });

  test.each([
    ['a report that is too short', ['0a0b0c0d']],
    ['a length no message can have', ['0a0b0c0dc2ffff']],
    ['a continuation before any message', [`0a0b0c0d00${'00'.repeat(59)}`]],
    ['a continuation out of sequence', [`0a0b0c0dc20080${'00'.repeat(57)}`, `0a0b0c0d01${'00'.repeat(59)}`]],
  ])('that are invalid are a protocol error: %s', (_what, reports) => {
    const assembler = new MessageAssembler(0x0a0b0c0d);
    expect(() => reports.map(report => assembler.add(hex(report)))).toThrow(
      expect.objectContaining({ name: 'HardwareError', code: 'protocol' }),
    );
  });
});

describe('a CTAPHID channel', () => {
  test('is opened by INIT, which reports the version', async () => {
    const channel = await open(new FakeCtapKey([5, 4, 3], {}));
    expect(channel.device).toEqual({ major: 5, minor: 4, build: 3 });
  });

  test("is not opened by the response to another program's INIT", async () => {
    const key = new FakeCtapKey([5, 4, 3], { 66: '03020104' });
    key.push('ffffffff860011 ffffffffffffffff 99999999 0201010105');
    const channel = await open(key);
    expect(toHex((await channel.call(0x42, hex('00'), never))!)).toBe('03020104');
  });

  test('returns the response to a command, and skips keepalives and the messages of other channels', async () => {
    const channel = FakeCtapKey.CHANNEL;
    const reports = [`${channel}bb000101`, '11223344c2000199', `${channel}bb000102`, `${channel}e20002abcd`];
    const opened = await open(new FakeCtapKey([1, 0, 0], { 98: { reports } }));
    expect(toHex((await opened.call(0x62, hex(''), never))!)).toBe('abcd');
  });

  test('returns null if the key does not support a command', async () => {
    const channel = await open(new FakeCtapKey([1, 0, 0], {}));
    expect(await channel.call(0x62, hex(''), never)).toBeNull();
  });

  test('repeats a command while the key is busy, up to four times', async () => {
    const key = new FakeCtapKey([1, 0, 0], { 98: [{ error: 6 }, '01'], 97: { error: 6 } });
    const channel = await open(key);
    expect(toHex((await channel.call(0x62, hex(''), never))!)).toBe('01');
    await expect(channel.call(0x61, hex(''), never)).rejects.toMatchObject({ code: 'busy' });
    expect(key.received.map(each => each.command)).toEqual([0x62, 0x62, 0x61, 0x61, 0x61, 0x61, 0x61]);
  });

  test.each([
    ['another CTAPHID error', { error: 0x0b }, 'protocol'],
    ['the response to another command', { reports: [`${FakeCtapKey.CHANNEL}e1000101`] }, 'protocol'],
    ['reports without end', { reports: Array(1001).fill(`${FakeCtapKey.CHANNEL}bb000101`) }, 'protocol'],
  ])('fails with HardwareError on %s', async (_what, reply, code) => {
    const channel = await open(new FakeCtapKey([1, 0, 0], { 98: reply }));
    await expect(channel.call(0x62, hex(''), never)).rejects.toMatchObject({ name: 'HardwareError', code });
  });

  test('fails with `timeout` when the deadline passes without an answer', async () => {
    const channel = await open(new FakeCtapKey([1, 0, 0], { 98: { reports: [] } }));
    await expect(channel.call(0x62, hex(''), AbortSignal.timeout(20))).rejects.toMatchObject({ code: 'timeout' });
    const abort = new AbortController();
    const called = channel.call(0x62, hex(''), abort.signal);
    abort.abort();
    await expect(called).rejects.toMatchObject({ code: 'aborted' });
  });

  test.each([0x51, 0x53, 0x43])('never sends command %i, which makes some keys restart or change', async command => {
    const key = new FakeCtapKey([1, 0, 0], { [command]: '' });
    const channel = await open(key);
    await expect(channel.call(command, hex(''), never)).rejects.toThrow('never sent');
    expect(key.received).toEqual([]);
  });
});
