import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { isContactless } from '../../drivers/pcsc/reader-names.ts';
import { parseCplc } from '../../drivers/protocols/cplc.ts';
import { parseEid } from '../../drivers/protocols/eid.ts';
import { concat, fromHex } from '../../drivers/protocols/hex.ts';
import { parseIccid } from '../../drivers/protocols/iccid.ts';
import { identifyCard, parseUid } from '../../drivers/protocols/identify-card.ts';
import { parseOpenPgp } from '../../drivers/protocols/openpgp.ts';
import { agreeScp11b } from '../../drivers/protocols/scp11b.ts';

const RUNS = 100_000;
const HOST_KEY = Uint8Array.of(4, ...new Uint8Array(64));
const REGISTRABLE = /^[A-Za-z0-9\-_.:/]{1,64}$/;

/** Any bytes, and bytes with a valid beginning: otherwise most of a parser is never reached. */
function bytesLike(prefix: string, length: number) {
  const free = fc.uint8Array({ maxLength: 300 });
  const exact = fc.uint8Array({ minLength: length, maxLength: length });
  const valid = fc.uint8Array({ minLength: length - prefix.length / 2, maxLength: length - prefix.length / 2 });
  return fc.oneof(
    free,
    exact,
    valid.map(rest => concat(fromHex(prefix), rest)),
  );
}

/** The response to GET EID with valid check digits, which random bytes practically never have. */
const validEid = fc.bigInt({ min: 0n, max: 10n ** 28n - 1n }).map(number => {
  const digits = `89${String(number).padStart(28, '0')}`;
  const check = 98n - (BigInt(`${digits}00`) % 97n);
  return fromHex(`BF3E125A10${digits}${String(check).padStart(2, '0')}`);
});

describe('a parser of card bytes returns a serial that can be registered or throws a protocol error, for any bytes', () => {
  it.each([
    ['ICCID', bytesLike('9868', 10), (bytes: Uint8Array) => parseIccid(bytes).digits],
    ['EID', fc.oneof(bytesLike('BF3E125A1089', 21), validEid), parseEid],
    ['CPLC data', bytesLike('9F7F2A4790', 45), (bytes: Uint8Array) => parseCplc(bytes).serial],
    ['OpenPGP identifier', bytesLike('D27600012401', 16), (bytes: Uint8Array) => parseOpenPgp(bytes).serial],
    ['UID', bytesLike('04', 7), parseUid],
  ] as const)('%s', (_, bytes, parse) => {
    let values = 0;
    fc.assert(
      fc.property(bytes, input => {
        try {
          expect(parse(input)).toMatch(REGISTRABLE);
          values += 1;
        } catch (error) {
          if (!(error instanceof HardwareError) || error.code !== 'protocol') throw error;
        }
      }),
      { numRuns: RUNS },
    );
    expect(values).toBeGreaterThan(0);
  });

  it('answer to reset', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (name, atr) => typeof isContactless(name, atr) === 'boolean'),
      { numRuns: RUNS },
    );
  });
});

describe('a security domain that answers with random bytes', () => {
  it('gives evidence with certificates of bounded size, has no SCP11b, or fails with a HardwareError, and is asked once', async () => {
    const beginning = fc.constantFrom('', 'C0041303B020', 'E006C0041303B020', '3003020101', 'BF2105300302', '5F494104');
    const answer = fc.tuple(
      beginning,
      fc.uint8Array({ maxLength: 90 }),
      fc.constantFrom('9000', '9000', '6110', '6C00', '6A80'),
    );
    const answers = fc.array(
      answer.map(([head, data, end]) => concat(fromHex(head), data, fromHex(end))),
      {
        minLength: 4,
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(answers, async given => {
        let commands = 0;
        let attempts = 0;
        const card = { transmit: async () => given[commands++ % given.length]! };
        try {
          const evidence = await agreeScp11b(card, HOST_KEY, new AbortController().signal, () => {
            attempts += 1;
          });
          expect(evidence === null || evidence.chain.every(one => one.length <= 4096)).toBe(true);
        } catch (error) {
          if (!(error instanceof HardwareError)) throw error;
        }
        expect(attempts).toBeLessThan(2);
        expect(commands).toBeLessThan(300);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a card that answers with random bytes', () => {
  it('is identified, has no serial, or fails with a HardwareError, after a limited number of commands', async () => {
    const status = fc.constantFrom(
      '9000',
      '6100',
      '610A',
      '9F10',
      '6C0A',
      '6C00',
      '6A82',
      '6E00',
      '6D00',
      '910B',
      '6283',
    );
    const answer = fc.oneof(
      fc.tuple(fc.uint8Array({ maxLength: 45 }), status).map(([data, end]) => concat(data, fromHex(end))),
      fc.uint8Array({ maxLength: 4 }),
      fc.constant(fromHex('019000')),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 40 }),
        fc.boolean(),
        async (answers, contactless) => {
          let commands = 0;
          const connection = {
            async transmit() {
              commands += 1;
              return answers[commands % answers.length] ?? new Uint8Array();
            },
          };
          try {
            const identity = await identifyCard(connection, { contactless }, new AbortController().signal);
            if (identity.serialNumber === null) expect(identity.problem).not.toBeNull();
            else expect(identity.serialNumber).toMatch(REGISTRABLE);
          } catch (error) {
            if (!(error instanceof HardwareError)) throw error;
          }
          expect(commands).toBeLessThan(1_000);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
