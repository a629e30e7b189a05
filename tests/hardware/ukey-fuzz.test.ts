/** Whatever bytes a key sends, each parser gives a value or a HardwareError; nothing else gets out, nothing hangs. */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { HardwareError } from '../../drivers/driver.ts';
import { okData } from '../../drivers/protocols/apdu.ts';
import { CtapHid, parseInit } from '../../drivers/protocols/ctaphid.ts';
import { Assembler } from '../../drivers/protocols/ctaphid-packets.ts';
import { OtpReply, versionOf } from '../../drivers/protocols/otp-reports.ts';
import { judgeSerial } from '../../drivers/protocols/ukey/serial.ts';
import { parseToken2Serial } from '../../drivers/protocols/ukey/token2.ts';
import { parseUuid, parseVersion } from '../../drivers/protocols/ukey/trussed.ts';
import { parseConfig, serialOf } from '../../drivers/protocols/ukey/yubikey-config.ts';
import { cleanText } from '../../drivers/text.ts';

const RUNS = { numRuns: 100_000 };
const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
/** Bytes that begin as the real thing does, so that the far ends of the parser are reached. */
const shaped = (head: number[], maxLength: number) =>
  fc.oneof(
    bytes(maxLength),
    bytes(maxLength).map(tail => Uint8Array.of(...head, ...tail)),
  );

function valueOrHardwareError(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    return error instanceof HardwareError && error.code === 'protocol';
  }
}

const PARSERS: readonly [string, fc.Arbitrary<Uint8Array>, (bytes: Uint8Array) => unknown][] = [
  ["a YubiKey's management page", shaped([6, 2, 4], 80), parseConfig],
  ["a YubiKey's serial", bytes(12), serialOf],
  ["a Trussed key's number", bytes(20), parseUuid],
  ["a Trussed key's version", bytes(8), parseVersion],
  ["a Token2 key's serial", shaped([0xd1, 4], 24), parseToken2Serial],
  ['the status of an APDU', bytes(8), okData],
  ['a status report of an OTP side', bytes(10), versionOf],
  ['the answer to CTAPHID INIT', bytes(30), data => parseInit(data, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0))],
];

describe('100,000 inputs each', () => {
  test.each(PARSERS)('%s', (_what, input, parse) => {
    fc.assert(
      fc.property(input, data => valueOrHardwareError(() => parse(data))),
      RUNS,
    );
  });

  test('sequences of CTAPHID reports', () => {
    const report = fc.oneof(
      shaped([0, 0, 0, 7, 0xc2, 0], 64),
      fc.tuple(fc.nat(3), bytes(59)).map(([sequence, data]) => Uint8Array.of(0, 0, 0, 7, sequence, ...data)),
    );
    fc.assert(
      fc.property(fc.array(report, { maxLength: 4 }), reports => {
        const assembler = new Assembler(7);
        return valueOrHardwareError(() => reports.map(each => assembler.add(each)));
      }),
      RUNS,
    );
  });

  test('sequences of OTP feature reports', () => {
    const report = fc.oneof(
      bytes(9),
      fc.tuple(fc.uint8Array({ minLength: 7, maxLength: 7 }), fc.nat(3)).map(([p, n]) => Uint8Array.of(...p, 0x40 | n)),
    );
    fc.assert(
      fc.property(fc.array(report, { maxLength: 6 }), reports => {
        const reply = new OtpReply(4);
        return valueOrHardwareError(() => {
          for (const each of reports) reply.add(each);
          return reply.data();
        });
      }),
      RUNS,
    );
  });

  test('serials and texts come out safe', () => {
    const unsafe = /[\p{Cc}\p{Cf}\p{Cs}]/u;
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), text => {
        const { serial } = judgeSerial(text, '096e', '0850');
        const clean = cleanText(text);
        return (serial === null || /^[\w\-.:/]{1,64}$/.test(serial)) && (clean === null || !unsafe.test(clean));
      }),
      RUNS,
    );
  });
});

describe('whole conversations', () => {
  test('a key that answers at random never gets out of the limits', async () => {
    const signal = new AbortController().signal;
    const report = fc.oneof(bytes(64), shaped([0xff, 0xff, 0xff, 0xff, 0x86, 0, 17, 1, 1, 1, 1, 1, 1, 1, 1], 49));
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 5 }), async reports => {
        let sent = 0;
        const key = { write: async () => undefined, read: async () => reports[sent++ % reports.length]! };
        try {
          const channel = await CtapHid.open(key, signal, Buffer.alloc(8, 1));
          await channel.call(0x62, Uint8Array.of(0), signal);
          return true;
        } catch (error) {
          return error instanceof HardwareError;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
