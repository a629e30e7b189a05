import { describe, expect, it } from 'vitest';
import { exchange, succeeded } from '../../drivers/protocols/exchange.ts';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';

const signal = new AbortController().signal;

/** Sends `command` to a card that gives these answers in turn; what was sent and what came of it, in hex. */
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

describe('an exchange with a card', () => {
  it('of T=1 ends with the first answer', async () => {
    expect(await run('00B000000A', ['01029000'])).toEqual({
      sent: ['00B000000A'],
      data: '0102',
      status: '9000',
      done: true,
    });
  });

  it('fetches what 61xx announces, in pieces', async () => {
    const result = await run('00A40004023F00', ['6102', '010261FF', '039000']);
    expect(result.sent).toEqual(['00A40004023F00', '00C0000002', '00C00000FF']);
    expect(result).toMatchObject({ data: '010203', done: true });
  });

  it('fetches what 9Fxx announces in the class of the older SIM', async () => {
    expect((await run('A0A40000023F00', ['9F02', '01029000'])).sent).toEqual(['A0A40000023F00', 'A0C0000002']);
  });

  it('takes 9Fxx for a refusal in any other class', async () => {
    expect(await run('00A40004023F00', ['9F02'])).toMatchObject({ status: '9f02', done: false });
  });

  it.each([
    ['00B0000000', '00B000000A'],
    ['00CA9F7F', '00CA9F7F0A'],
    ['00A40004023F00', '00A40004023F000A'],
    ['00A40004023F0000', '00A40004023F000A'],
  ])('%s is asked again with the length that 6Cxx names: %s', async (command, again) => {
    const result = await run(command, ['6C0A', '019000']);
    expect(result.sent).toEqual([command, again]);
    expect(result).toMatchObject({ data: '01', done: true });
  });

  it('asks in the inter-industry class, on the same channel, where the command class has no GET RESPONSE', async () => {
    const result = await run('81E2910006BF3E035C015A00', ['6115', '6E00', '019000']);
    expect(result.sent.slice(1)).toEqual(['81C0000015', '01C0000015']);
    expect(result.done).toBe(true);
  });

  it('takes 91xx, a command of the card’s own that waits, for success', async () => {
    expect((await run('00B000000A', ['01910B'])).done).toBe(true);
  });

  it.each(['6A82', '6E00', '6300', '6982', '9404'])('tells the refusal %s as an answer', async status => {
    expect(await run('00A40004022FE2', [status])).toMatchObject({ status: status.toLowerCase(), done: false });
  });

  it('with a card that announces more without end is given up', async () => {
    await expect(run('00B000000A', Array(1000).fill('6110'))).rejects.toMatchObject({ code: 'protocol' });
    await expect(run('00B000000A', Array(1000).fill('6C10'))).rejects.toMatchObject({ code: 'protocol' });
  });

  it.each(['', '90'])('that answers %j, less than a status, is a protocol error', async answer => {
    await expect(run('00B000000A', [answer])).rejects.toMatchObject({ code: 'protocol' });
  });
});
