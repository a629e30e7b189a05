/** For any bytes from a key each parser returns a value or throws a HardwareError: no other error, no endless loop. */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { parseResponse } from '../../drivers/protocols/apdu.ts';
import { configClaims } from '../../drivers/protocols/claims.ts';
import { parseInfo } from '../../drivers/protocols/ctap2.ts';
import { CtapHidChannel, parseInit } from '../../drivers/protocols/ctaphid.ts';
import { MessageAssembler } from '../../drivers/protocols/ctaphid-packets.ts';
import { firmwareVersionOf, OtpAnswer } from '../../drivers/protocols/otp-reports.ts';
import { proveKey, recognizeKey } from '../../drivers/protocols/prove-key.ts';
import { judgeSerial } from '../../drivers/protocols/serial.ts';
import { parseToken2Serial } from '../../drivers/protocols/token2.ts';
import { parseTrussedStatus, parseUuid, parseVersion } from '../../drivers/protocols/trussed.ts';
import { configValues, parseConfig, parseSerial } from '../../drivers/protocols/yubikey.ts';
import { cleanText } from '../../drivers/text.ts';

const RUNS = { numRuns: 100_000 };
/** The response of a FIDO application to its selection. */
const SELECTED = Buffer.concat([Buffer.from('FIDO_2_0'), Buffer.of(0x90, 0)]);
const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
/** Bytes with a valid beginning, so that the whole parser is reached. */
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
  ["a YubiKey's serial", bytes(12), parseSerial],
  ["a Trussed key's number", bytes(20), parseUuid],
  ["a Trussed key's version", bytes(8), parseVersion],
  ["a Token2 key's serial", shaped([0xd1, 4], 24), parseToken2Serial],
  ['the status of an APDU', bytes(8), parseResponse],
  ['a status report of an OTP interface', bytes(10), firmwareVersionOf],
  ['what an authenticator reports about itself', shaped([0xa2, 1, 0x80, 3, 0x50], 80), parseInfo],
  ["a YubiKey's configuration", shaped([6, 4, 1, 3], 80), page => configClaims(configValues(page))],
  ["a Trussed key's status", bytes(8), parseTrussedStatus],
  ['the response to CTAPHID INIT', bytes(30), data => parseInit(data, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0))],
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
        const assembler = new MessageAssembler(7);
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
        const answer = new OtpAnswer(4);
        return valueOrHardwareError(() => {
          for (const each of reports) answer.add(each);
          return answer.data();
        });
      }),
      RUNS,
    );
  });

  test('serials and texts are safe', () => {
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

describe('complete conversations', () => {
  test('a proof with a key that answers at random ends with evidence or a HardwareError before its deadline', async () => {
    const channel = [0, 0, 0, 9];
    const cbor = fc.oneof(bytes(50), shaped([0xa1, 1, 0x80], 40));
    const report = fc.oneof(
      bytes(64),
      fc
        .tuple(fc.constantFrom(0x90, 0x83, 0xbb, 0xbf), cbor)
        .map(([command, data]) => Uint8Array.of(...channel, command, 0, data.length + 1, 0, ...data)),
    );
    const opened = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x86, 0, 17, ...Buffer.alloc(8, 1), ...channel, 2, 5, 7, 4, 5);
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 6 }), async reports => {
        let sent = 0;
        let nonce: Uint8Array = new Uint8Array();
        const openFido = async () => ({
          write: async (packet: Uint8Array) => {
            if (packet[4] === 0x86) nonce = packet.subarray(7, 15);
          },
          read: async (signal: AbortSignal) => {
            if (signal.aborted) throw new HardwareError('timeout', 'no answer');
            const next = sent++;
            return next === 0
              ? Uint8Array.of(...opened.subarray(0, 7), ...nonce, ...opened.subarray(15))
              : reports[next % reports.length]!;
          },
          close: async () => undefined,
        });
        const view = {
          vendorId: '096e',
          productId: '0850',
          descriptorSerial: null,
          openFido,
          openOtp: null,
          openCard: null,
        };
        const request = {
          method: null,
          hostPublicKey: new Uint8Array(65),
          clientDataHash: new Uint8Array(32),
          relyingParty: 'devmgr.invalid',
        };
        const work = { signal: AbortSignal.timeout(50), onTouch: () => undefined };
        try {
          await proveKey({ view, firmwareVersion: null, beforeScp11b: () => undefined }, request, work);
          return true;
        } catch (error) {
          return error instanceof HardwareError;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('a key is recognized over a card that answers at random, or a HardwareError is thrown, after a bounded number of commands', async () => {
    const status = fc.constantFrom(
      [0x90, 0],
      [0x91, 0],
      [0x61, 0x10],
      [0x61, 0],
      [0x6c, 8],
      [0x69, 0x85],
      [0x6a, 0x80],
      [0x6d, 0],
    );
    const body = fc.oneof(
      bytes(50),
      shaped([0, 0xa1, 1, 0x80], 40),
      shaped([0, 0xa3, 1, 0xa1, 0x62, 0x69, 0x64, 0x41, 7, 2, 0x41, 1, 3, 0x41], 8),
      fc.constant(Buffer.from('FIDO_2_0')),
      fc.constant(Buffer.from('U2F_V2')),
    );
    const response = fc.tuple(body, status).map(([data, end]) => Uint8Array.of(...data, ...end));
    const credentials = [Uint8Array.of(7), new Uint8Array(64)];
    const question = { relyingParty: 'r1.devmgr.invalid', clientDataHash: new Uint8Array(32), credentials };
    await fc.assert(
      fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 6 }), async responses => {
        let sent = 0;
        const transmit = async (_apdu: Uint8Array, signal: AbortSignal) => {
          if (signal.aborted || sent > 500) throw new HardwareError('timeout', 'no answer');
          const next = sent++;
          return next === 0 ? SELECTED : responses[next % responses.length]!;
        };
        const openCard = async () => ({ transmit, close: async () => undefined });
        const view = { vendorId: '', productId: '', descriptorSerial: null, openFido: null, openOtp: null, openCard };
        try {
          const found = await recognizeKey(view, question, AbortSignal.timeout(30));
          return found === null || credentials.some(id => Buffer.compare(id, found.credentialId) === 0);
        } catch (error) {
          return error instanceof HardwareError && sent <= 500;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('with a key that answers at random end with a value or a HardwareError', async () => {
    const signal = new AbortController().signal;
    const report = fc.oneof(bytes(64), shaped([0xff, 0xff, 0xff, 0xff, 0x86, 0, 17, 1, 1, 1, 1, 1, 1, 1, 1], 49));
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 5 }), async reports => {
        let sent = 0;
        const key = { write: async () => undefined, read: async () => reports[sent++ % reports.length]! };
        try {
          const channel = await CtapHidChannel.open(key, signal, { nonce: Buffer.alloc(8, 1) });
          await channel.call(0x62, new Uint8Array(), signal);
          return true;
        } catch (error) {
          return error instanceof HardwareError;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
