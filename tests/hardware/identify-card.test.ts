import { describe, expect, it } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { readCardClaims } from '../../drivers/protocols/claims.ts';
import type { CardConnection } from '../../drivers/protocols/connection.ts';
import { parseCplc } from '../../drivers/protocols/cplc.ts';
import { parseEid } from '../../drivers/protocols/eid.ts';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';
import { isLuhnValid, luhnDigit, parseIccid } from '../../drivers/protocols/iccid.ts';
import { CARD_SERIAL_SOURCES, identifyCard, parseUid } from '../../drivers/protocols/identify-card.ts';
import { parseOpenPgp } from '../../drivers/protocols/openpgp.ts';
import { cardOf, cplcData, euicc, iccidFile, on, uicc } from '../support/vcard-programs.ts';

const signal = new AbortController().signal;

/** A connection to a card in this process. */
function connectTo(program: {
  answer(command: Uint8Array): Uint8Array | null;
}): CardConnection & { readonly log: string[] } {
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

  it.each([
    ['8986000000000001232F', '8986000000000001232'],
    ['89019900000000000427', '89019900000000000427'],
  ])('reads digits that were not swapped: %s', (file, digits) => {
    expect(parseIccid(fromHex(file))).toEqual({ digits, checked: true });
  });

  it('with 18 digits gets its check digit appended', () => {
    expect(parseIccid(fromHex(iccidFile('898600000000000123')))).toEqual({
      digits: '8986000000000001232',
      checked: true,
    });
  });

  it('with 19 digits and a wrong check digit is still the serial, and the check digit is logged', async () => {
    expect(parseIccid(fromHex(iccidFile('8986000000000001233')))).toEqual({
      digits: '8986000000000001233',
      checked: false,
    });
    const identity = await identifyCard(
      connectTo(uicc({ iccid: '8986000000000001233' })),
      { contactless: false },
      signal,
    );
    expect(identity).toMatchObject({ serialNumber: '8986000000000001233', problem: null });
    expect(identity.remark).toMatch(/check digit of ICCID 8986000000000001233 is wrong/);
  });

  it('keeps the letters that some issuers use among the digits', () => {
    expect(parseIccid(fromHex(iccidFile('898600B5123456789012'))).digits).toBe('898600B5123456789012');
  });

  it('has no padding at either end', () => {
    expect(parseIccid(fromHex(iccidFile('F8986000000000001232'))).digits).toBe('8986000000000001232');
  });

  it.each([
    ['', /0 bytes instead of 10/],
    ['986800000000001032', /9 bytes instead of 10/],
    ['986800000000001032F2FF', /11 bytes instead of 10/],
    ['FFFFFFFFFFFFFFFFFFFF', /empty: the card was not personalized/],
    ['00000000000000000000', /placeholder/],
  ])('%s is rejected with the reason', (file, reason) => {
    expect(() => parseIccid(fromHex(file))).toThrow(reason);
  });

  it('has a Luhn check digit', () => {
    expect(luhnDigit('7992739871')).toBe('3');
    expect(isLuhnValid('79927398713')).toBe(true);
    expect(isLuhnValid('79927398710')).toBe(false);
  });
});

describe('the EID', () => {
  const valid = '89049032000000000000000000000163';

  it('with 32 digits and valid check digits is the serial, without swapped digits', () => {
    expect(parseEid(fromHex(`BF3E125A10${valid}`))).toBe(valid);
  });

  it.each([
    ['with a digit changed', `BF3E125A10${valid.replace('903', '904')}`, /check digits/],
    ['with a letter', `BF3E125A10A${valid.slice(1)}`, /32 decimal digits/],
    ['under another tag', `BF3E125B10${valid}`, /not an EID/],
    ['cut off', `BF3E125A10${valid.slice(2)}`, /not an EID/],
  ])('%s is rejected', (_, data, reason) => {
    expect(() => parseEid(fromHex(data))).toThrow(reason);
  });

  it('is read from the application in the settings', async () => {
    const application = 'A0000005591010FFFFFFFF8900000177';
    const program = cardOf([
      on('0070000001', '019000'),
      on(`01A4040010${application}`, '9000'),
      on('81E291', `BF3E125A10${valid}9000`),
      on('0070800100', '9000'),
    ]);
    const facts = { contactless: false, euiccApplications: ['A0000005591010FFFFFFFF8900000100', application] };
    expect(await identifyCard(connectTo(program), facts, signal)).toMatchObject({
      serialNumber: valid,
      serialSource: 'eid',
    });
  });

  it('is read over a channel that is closed even if the card does not have the application', async () => {
    const card = connectTo(
      cardOf([on('0070000001', '019000'), on('0070800100', '9000'), on('00', '6A82'), on('A0', '6E00')]),
    );
    await identifyCard(card, { contactless: false }, signal);
    expect(card.log.filter(command => command.startsWith('0070'))).toEqual(['0070000001', '0070800100']);
  });
});

describe('the CPLC data', () => {
  const chip = { fabricator: '4090', type: '7892', date: '3101', serial: 'DEADBEEF', batch: '00FF' };

  it('gives maker, type, date, serial and batch of the chip, with or without the tag', () => {
    const expected = { serial: '409078923101DEADBEEF00FF', fabricator: 'Infineon' };
    expect(parseCplc(fromHex(cplcData(chip)))).toEqual(expected);
    expect(parseCplc(fromHex(`9F7F2A${cplcData(chip)}`))).toEqual(expected);
  });

  it('of an unknown maker gives no maker', () => {
    expect(parseCplc(fromHex(cplcData({ ...chip, fabricator: '1234' }))).fabricator).toBeNull();
  });

  it.each(['00000000', 'FFFFFFFF'])('is rejected if the serial of the chip is %s', serial => {
    expect(() => parseCplc(fromHex(cplcData({ ...chip, serial })))).toThrow(/no serial of the chip/);
  });

  it('of another length is rejected', () => {
    expect(() => parseCplc(fromHex('00'.repeat(41)))).toThrow(/41 bytes instead of 42/);
  });

  it('is read in class 00 if the card refuses class 80', async () => {
    const program = cardOf([
      on('80', '6E00'),
      on('00CA9F7F', `9F7F2A${cplcData(chip)}9000`),
      on('00', '6A82'),
      on('A0', '6E00'),
    ]);
    expect(await identifyCard(connectTo(program), { contactless: false }, signal)).toMatchObject({
      serialSource: 'cplc',
    });
  });
});

describe('the OpenPGP identifier', () => {
  it('gives maker, number and version', () => {
    expect(parseOpenPgp(fromHex('D2760001240103040006048123460000'))).toEqual({
      serial: '0006:04812346',
      maker: 'Yubico',
      version: '3.4',
    });
  });

  it.each([
    ['with the number 0', 'D2760001240103040006000000000000', /placeholder/],
    ['cut off', 'D27600012401030400060123456700', /not an OpenPGP identifier/],
    ['of another application', 'D2760001250103040006012345670000', /not an OpenPGP identifier/],
  ])('%s is rejected', (_, data, reason) => {
    expect(() => parseOpenPgp(fromHex(data))).toThrow(reason);
  });
});

describe('the UID of a contactless card', () => {
  it('is the serial in hex', () => {
    expect(parseUid(fromHex('04A1B2C3D4E5F6'))).toBe('04A1B2C3D4E5F6');
  });

  it.each([
    ['random at each tap', '08A1B2C3', /random at each tap/],
    ['of an impossible length', '04A1B2', /3 bytes/],
    ['of zeros', '00000000', /placeholder/],
  ])('%s is rejected', (_, data, reason) => {
    expect(() => parseUid(fromHex(data))).toThrow(reason);
  });

  it('is not read from a reader with contacts, which would answer for itself', async () => {
    const card = connectTo(cardOf([on('FFCA', '04A1B2C3D4E5F69000')]));
    expect((await identifyCard(card, { contactless: false }, signal)).serialNumber).toBeNull();
    expect(card.log.some(command => command.startsWith('FF'))).toBe(false);
  });
});

describe('what a card reports about itself', () => {
  const eid = '89049032000000000000000000000163';
  // EUICCInfo1: version 2.2.0, no list of certificate issuers.
  const info = 'BF200B8203020200A900AA00';

  it('is EID and EUICCInfo1 of an eUICC, read over a logical channel', async () => {
    const card = connectTo(euicc({ eid, info }));
    expect(await readCardClaims(card, true, signal)).toEqual({ eid, euiccInfo: info });
    expect(card.log.filter(command => command.startsWith('0070000001'))).toHaveLength(2);
    expect(card.log.filter(command => command.startsWith('00708001'))).toHaveLength(2);
  });

  it.each([
    ['refuses EUICCInfo1', euicc({ eid }), { eid }],
    ['gives 129 bytes of it', euicc({ eid, info: '00'.repeat(129) }), { eid }],
    ['has an EID whose check digits are wrong', euicc({ eid: `${eid.slice(0, -1)}4`, info }), { euiccInfo: info }],
  ])('leaves out what is not valid if the eUICC %s', async (_, card, claims) => {
    expect(await readCardClaims(connectTo(card), true, signal)).toEqual(claims);
  });

  it('is not asked of the eUICC if the card has no EID', async () => {
    const card = connectTo(uicc({ iccid: '8986000000000001232' }));
    expect(await readCardClaims(card, false, signal)).toEqual({});
    expect(card.log.some(command => command.startsWith('0070'))).toBe(false);
  });
});

describe('the sources of a serial', () => {
  it('are tried in the order ICCID, EID, FIDO, CPLC, OpenPGP, UID', () => {
    expect(CARD_SERIAL_SOURCES.map(({ name }) => name)).toEqual(['iccid', 'eid', 'fido', 'cplc', 'openpgp', 'uid']);
  });

  it('give the ICCID of the profile for an eUICC with a profile', async () => {
    const chip = euicc({ eid: '89049032000000000000000000000163' });
    const sim = uicc({ iccid: '8986000000000001232' });
    const both = { answer: (command: Uint8Array) => sim.answer(command) ?? chip.answer(command) };
    expect(await identifyCard(connectTo(both), { contactless: false }, signal)).toMatchObject({
      serialSource: 'iccid',
    });
  });

  it('are tried further after an invalid answer, which is the problem if no other source has a serial', async () => {
    const invalid = cardOf([on('00A4', '9000'), on('00B0', '98689000'), on('80CA9F7F', `${'00'.repeat(42)}9000`)]);
    const identity = await identifyCard(connectTo(invalid), { contactless: false }, signal);
    expect(identity.serialNumber).toBeNull();
    expect(identity.problem).toMatch(/2 bytes instead of 10.*no serial of the chip.*by hand/);
  });

  it('are not tried further after the card could not be reached, whatever the code of the error', async () => {
    let commands = 0;
    const removed: CardConnection = {
      async transmit() {
        commands += 1;
        throw new HardwareError('protocol', 'the reader failed');
      },
    };
    await expect(identifyCard(removed, { contactless: false }, signal)).rejects.toThrow('the reader failed');
    expect(commands).toBe(1);
  });
});
