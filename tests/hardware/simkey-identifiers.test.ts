import { describe, expect, it } from 'vitest';
import { HardwareError } from '../../drivers/driver.ts';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';
import { parseCplc } from '../../drivers/protocols/simkey/cplc.ts';
import { parseEid } from '../../drivers/protocols/simkey/eid.ts';
import { luhnDigit, luhnHolds, parseIccid } from '../../drivers/protocols/simkey/iccid.ts';
import { type Connection, IDENTIFIERS, identify } from '../../drivers/protocols/simkey/index.ts';
import { parseOpenPgp } from '../../drivers/protocols/simkey/openpgp.ts';
import { parseUid } from '../../drivers/protocols/simkey/uid.ts';
import { cardOf, cplcData, euicc, iccidFile, on, uicc } from '../support/vcard-programs.ts';

const signal = new AbortController().signal;

/** Runs the protocol on a card in this process. */
function lineTo(program: { answer(command: Uint8Array): Uint8Array | null }): Connection & { readonly log: string[] } {
  const log: string[] = [];
  return {
    log,
    async transmit(command) {
      log.push(toHex(command));
      return program.answer(command) ?? new Uint8Array();
    },
  };
}

describe('the ICCID', () => {
  it.each([
    ['986800000000001032F2', '8986000000000001232'],
    ['98109900000000004072', '89019900000000000427'],
    ['986800B5000000000010', '8986005B000000000001'],
  ])('%s is %s', (file, digits) => {
    expect(parseIccid(fromHex(file))).toEqual({ digits, checked: true });
  });

  it('of 18 digits gets its check digit appended', () => {
    expect(parseIccid(fromHex(iccidFile('898600000000000123')))).toEqual({
      digits: '8986000000000001232',
      checked: true,
    });
  });

  it('of 19 digits with a wrong check digit is still the serial, and is remarked on', async () => {
    expect(parseIccid(fromHex(iccidFile('8986000000000001233')))).toEqual({
      digits: '8986000000000001233',
      checked: false,
    });
    const identity = await identify(lineTo(uicc({ iccid: '8986000000000001233' })), { contactless: false }, signal);
    expect(identity).toMatchObject({ serialNumber: '8986000000000001233', problem: null });
    expect(identity.remark).toMatch(/check digit of ICCID 8986000000000001233 does not hold/);
  });

  it('keeps the letters that some issuers put among the digits', () => {
    expect(parseIccid(fromHex(iccidFile('898600B5123456789012'))).digits).toBe('898600B5123456789012');
  });

  it('loses the filler at either end', () => {
    expect(parseIccid(fromHex(iccidFile('F8986000000000001232'))).digits).toBe('8986000000000001232');
  });

  it.each([
    ['', /0 bytes instead of 10/],
    ['986800000000001032', /9 bytes instead of 10/],
    ['986800000000001032F2FF', /11 bytes instead of 10/],
    ['FFFFFFFFFFFFFFFFFFFF', /empty: the card was not personalised/],
    ['00000000000000000000', /placeholder/],
  ])('%s is refused with the reason', (file, reason) => {
    expect(() => parseIccid(fromHex(file))).toThrow(reason);
  });

  it('check digit follows Luhn', () => {
    expect(luhnDigit('7992739871')).toBe('3');
    expect(luhnHolds('79927398713')).toBe(true);
    expect(luhnHolds('79927398710')).toBe(false);
  });
});

describe('the EID', () => {
  const good = '89049032000000000000000000000163';

  it('of 32 digits whose check digits hold is taken as it stands', () => {
    expect(parseEid(fromHex(`BF3E125A10${good}`))).toBe(good);
  });

  it.each([
    ['with a digit changed', `BF3E125A10${good.replace('903', '904')}`, /check digits/],
    ['with a letter', `BF3E125A10A${good.slice(1)}`, /32 decimal digits/],
    ['under another tag', `BF3E125B10${good}`, /something else/],
    ['cut short', `BF3E125A10${good.slice(2)}`, /something else/],
  ])('%s is refused', (_, data, reason) => {
    expect(() => parseEid(fromHex(data))).toThrow(reason);
  });

  it('is asked of the application that the settings name', async () => {
    const application = 'A0000005591010FFFFFFFF8900000177';
    const program = cardOf([
      on('0070000001', '019000'),
      on(`01A4040010${application}`, '9000'),
      on('81E291', `BF3E125A10${good}9000`),
      on('0070800100', '9000'),
    ]);
    const facts = { contactless: false, euiccApplications: ['A0000005591010FFFFFFFF8900000100', application] };
    expect(await identify(lineTo(program), facts, signal)).toMatchObject({ serialNumber: good, serialSource: 'eid' });
  });

  it('channel is closed again even where the card has no such application', async () => {
    const line = lineTo(
      cardOf([on('0070000001', '019000'), on('0070800100', '9000'), on('00', '6A82'), on('A0', '6E00')]),
    );
    await identify(line, { contactless: false }, signal);
    expect(line.log.filter(command => command.startsWith('0070'))).toEqual(['0070000001', '0070800100']);
  });
});

describe('the production data', () => {
  const chip = { fabricator: '4090', type: '7892', date: '3101', serial: 'DEADBEEF', batch: '00FF' };

  it('give maker, type, date, serial and batch of the chip, with or without their tag', () => {
    const expected = { serial: '409078923101DEADBEEF00FF', fabricator: 'Infineon' };
    expect(parseCplc(fromHex(cplcData(chip)))).toEqual(expected);
    expect(parseCplc(fromHex(`9F7F2A${cplcData(chip)}`))).toEqual(expected);
  });

  it('of an unknown maker name none', () => {
    expect(parseCplc(fromHex(cplcData({ ...chip, fabricator: '1234' }))).fabricator).toBeNull();
  });

  it.each(['00000000', 'FFFFFFFF'])('with the serial %s are refused: it is no serial', serial => {
    expect(() => parseCplc(fromHex(cplcData({ ...chip, serial })))).toThrow(/no serial/);
  });

  it('of another length are refused', () => {
    expect(() => parseCplc(fromHex('00'.repeat(41)))).toThrow(/41 bytes instead of 42/);
  });

  it('are asked again in class 00 where class 80 is refused', async () => {
    const program = cardOf([
      on('80', '6E00'),
      on('00CA9F7F', `9F7F2A${cplcData(chip)}9000`),
      on('00', '6A82'),
      on('A0', '6E00'),
    ]);
    expect(await identify(lineTo(program), { contactless: false }, signal)).toMatchObject({ serialSource: 'cplc' });
  });
});

describe('the OpenPGP identifier', () => {
  it('gives maker, number and version', () => {
    expect(parseOpenPgp(fromHex('D2760001240103040006012345670000'))).toEqual({
      serial: '0006:01234567',
      maker: 'Yubico',
      version: '3.4',
    });
  });

  it.each([
    ['with the number 0', 'D2760001240103040006000000000000', /placeholder/],
    ['cut short', 'D27600012401030400060123456700', /something else/],
    ['of another application', 'D2760001250103040006012345670000', /something else/],
  ])('%s is refused', (_, data, reason) => {
    expect(() => parseOpenPgp(fromHex(data))).toThrow(reason);
  });
});

describe('the UID of a contactless card', () => {
  it('is its hex digits', () => {
    expect(parseUid(fromHex('04A1B2C3D4E5F6'))).toBe('04A1B2C3D4E5F6');
  });

  it.each([
    ['drawn anew at each tap', '08A1B2C3', /drawn anew/],
    ['of a length no card has', '04A1B2', /3 bytes/],
    ['of zeros', '00000000', /placeholder/],
  ])('%s is refused', (_, data, reason) => {
    expect(() => parseUid(fromHex(data))).toThrow(reason);
  });

  it('is never asked of a reader with contacts, which would answer for itself', async () => {
    const line = lineTo(cardOf([on('FFCA', '04A1B2C3D4E5F69000')]));
    expect((await identify(line, { contactless: false }, signal)).serialNumber).toBeNull();
    expect(line.log.some(command => command.startsWith('FF'))).toBe(false);
  });
});

describe('the order of identifiers', () => {
  it('is ICCID, EID, production data, OpenPGP, UID', () => {
    expect(IDENTIFIERS.map(({ source }) => source)).toEqual(['iccid', 'eid', 'cplc', 'openpgp', 'uid']);
  });

  it('makes an eUICC with a profile known by the ICCID of the profile', async () => {
    const chip = euicc({ eid: '89049032000000000000000000000163' });
    const sim = uicc({ iccid: '8986000000000001232' });
    const both = { answer: (command: Uint8Array) => sim.answer(command) ?? chip.answer(command) };
    expect(await identify(lineTo(both), { contactless: false }, signal)).toMatchObject({ serialSource: 'iccid' });
  });

  it('goes on after an identifier that is garbled, and tells of it where nothing else answers', async () => {
    const garbled = cardOf([on('00A4', '9000'), on('00B0', '98689000'), on('80CA9F7F', `${'00'.repeat(42)}9000`)]);
    const identity = await identify(lineTo(garbled), { contactless: false }, signal);
    expect(identity.serialNumber).toBeNull();
    expect(identity.problem).toMatch(/2 bytes instead of 10.*no serial in its production data.*by hand/);
  });

  it('ends at once where the card is gone, whatever the failure is called', async () => {
    let asked = 0;
    const gone: Connection = {
      async transmit() {
        asked += 1;
        throw new HardwareError('protocol', 'the reader failed');
      },
    };
    await expect(identify(gone, { contactless: false }, signal)).rejects.toThrow('the reader failed');
    expect(asked).toBe(1);
  });
});
