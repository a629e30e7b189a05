import { describe, expect, it } from 'vitest';
import { CLA, commandApdu, exchange, INS, selectApplication, succeeded } from '../../drivers/protocols/apdu.ts';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';

const signal = new AbortController().signal;

/** Sends `command` to a card that gives these answers in turn. Returns what was sent and the outcome, in hex. */
async function run(command: string, answers: readonly string[]) {
  const sent: string[] = [];
  const left = [...answers];
  const connection = {
    async transmit(apdu: Uint8Array) {
      sent.push(toHex(apdu));
      return fromHex(left.shift() ?? '');
    },
  };
  const answer = await exchange(connection, fromHex(command), signal);
  return { sent, data: toHex(answer.data), status: answer.status.toString(16), done: succeeded(answer) };
}

describe('a command APDU', () => {
  it.each([
    ['without data and Le', { ins: 0x1d, p1: 1 }, '001D0100'],
    ['with Le', { ins: INS.READ_BINARY, le: 10 }, '00B000000A'],
    ['with Le 256', { cla: CLA.PROPRIETARY, ins: INS.GET_DATA, p1: 0x9f, p2: 0x7f, le: 0 }, '80CA9F7F00'],
    ['with data', { ins: INS.SELECT, p2: 4, data: fromHex('3F00') }, '00A40004023F00'],
    ['with data and Le', { ins: INS.STORE_DATA, p1: 0x91, data: fromHex('BF3E'), le: 0 }, '00E2910002BF3E00'],
  ])('%s', (_what, command, bytes) => {
    expect(toHex(commandApdu(command))).toBe(bytes);
  });

  it('selects an application on any logical channel', () => {
    expect(toHex(selectApplication('D27600012401'))).toBe('00A4040006D27600012401');
    expect(toHex(selectApplication('D27600012401', 2))).toBe('02A4040006D27600012401');
  });

  it('is not built with more than 255 bytes of data', () => {
    expect(() => commandApdu({ ins: INS.SELECT, data: new Uint8Array(256) })).toThrow(RangeError);
  });
});

describe('an exchange with a card', () => {
  it('ends with the first answer if it has a final status', async () => {
    expect(await run('00B000000A', ['01029000'])).toEqual({
      sent: ['00B000000A'],
      data: '0102',
      status: '9000',
      done: true,
    });
  });

  it('fetches the data that 61xx announces, in several rounds', async () => {
    const result = await run('00A40004023F00', ['6102', '010261FF', '039000']);
    expect(result.sent).toEqual(['00A40004023F00', '00C0000002', '00C00000FF']);
    expect(result).toMatchObject({ data: '010203', done: true });
  });

  it('fetches the data that 9Fxx announces, in the class of classic SIMs', async () => {
    expect((await run('A0A40000023F00', ['9F02', '01029000'])).sent).toEqual(['A0A40000023F00', 'A0C0000002']);
  });

  it('treats 9Fxx as a refusal in every other class', async () => {
    expect(await run('00A40004023F00', ['9F02'])).toMatchObject({ status: '9f02', done: false });
  });

  it.each([
    ['00B0000000', '00B000000A'],
    ['00CA9F7F', '00CA9F7F0A'],
    ['00A40004023F00', '00A40004023F000A'],
    ['00A40004023F0000', '00A40004023F000A'],
  ])('repeats %s with the length in 6Cxx: %s', async (command, again) => {
    const result = await run(command, ['6C0A', '019000']);
    expect(result.sent).toEqual([command, again]);
    expect(result).toMatchObject({ data: '01', done: true });
  });

  it('sends GET RESPONSE in the inter-industry class, on the same channel, if the class of the command has none', async () => {
    const result = await run('81E2910006BF3E035C015A00', ['6115', '6E00', '019000']);
    expect(result.sent.slice(1)).toEqual(['81C0000015', '01C0000015']);
    expect(result.done).toBe(true);
  });

  it('treats 91xx (a proactive command is waiting) as success', async () => {
    expect((await run('00B000000A', ['01910B'])).done).toBe(true);
  });

  it.each(['6A82', '6E00', '6300', '6982', '9404'])('returns the refusal %s as a response', async status => {
    expect(await run('00A40004022FE2', [status])).toMatchObject({ status: status.toLowerCase(), done: false });
  });

  it('stops if the card announces more data without end', async () => {
    await expect(run('00B000000A', Array(1000).fill('6110'))).rejects.toMatchObject({ code: 'protocol' });
    await expect(run('00B000000A', Array(1000).fill('6C10'))).rejects.toMatchObject({ code: 'protocol' });
  });

  it.each(['', '90'])(
    'fails with a protocol error if the card answers %j, which is shorter than a status',
    async answer => {
      await expect(run('00B000000A', [answer])).rejects.toMatchObject({ code: 'protocol' });
    },
  );
});
