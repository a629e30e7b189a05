import { describe, expect, test } from 'vitest';
import { judgeSerial } from '../../drivers/protocols/serial.ts';

const judge = (serial: string | null, ids = '096e:0850') => {
  const [vendorId, productId] = ids.split(':');
  return judgeSerial(serial, vendorId!, productId!);
};

describe('a serial is accepted', () => {
  test.each(['SN-0001', 'A', '12345', 'ABCDEX', '1000000001', 'a_b.c:d/e-f', 'x'.repeat(64)])(
    'unchanged: %s',
    serial => {
      expect(judge(serial)).toEqual({ serial, firmwareVersion: null, problem: null });
    },
  );

  test('without white space at the ends', () => {
    expect(judge('  SN1 ').serial).toBe('SN1');
  });

  test('without the firmware version, from a Nitrokey Start', () => {
    expect(judge('FSIJ-1.2.15-43211613', '20a0:4211')).toEqual({
      serial: '43211613',
      firmwareVersion: '1.2.15',
      problem: null,
    });
  });
});

test('a number that the protocol of a maker reports is that of the unit, also if it is counted', () => {
  expect(judgeSerial('12345678', '1050', '0407', 'maker').serial).toBe('12345678');
});

describe('a serial is rejected with the reason', () => {
  test.each([
    ['missing', null, '096e:0850', 'no readable serial'],
    ['empty', ' \t', '096e:0850', 'no readable serial'],
    ['one repeated digit', '0000000000', '096e:0850', 'placeholder'],
    ['a single digit', '1', '096e:0850', 'placeholder'],
    ['erased memory', 'FFFFFFFF', '096e:0850', 'placeholder'],
    ["OnlyKey's", '1000000000', '1d50:60fc', 'placeholder'],
    ['that of firmware for Teensy boards', '1000000000', '096e:0850', 'placeholder'],
    ['the default of USB gadgets', '0123456789ABCDEF', '096e:0850', 'placeholder'],
    ['the default of USB gadgets in lower case', '0123456789abcdef', '096e:0850', 'placeholder'],
    ['counted up', '123456789', '096e:0850', 'placeholder'],
    ['counted up beyond 9', '1234567890', '096e:0850', 'placeholder'],
    ['counted down', '87654321', '096e:0850', 'placeholder'],
    ['of an example of STM32Cube', '00000000001A', '096e:0850', 'placeholder'],
    ["Ledger's", '0001', '2c97:4011', 'placeholder'],
    ["Nitrokey Start's with an empty number", 'FSIJ-1.2.15-00000000', '20a0:4211', 'placeholder'],
    ['a space inside', 'SN 0001', '096e:0850', 'characters other than'],
    ['a control character inside', 'SN\u001b[31m1', '096e:0850', 'characters other than'],
    ['letters beyond ASCII', 'Ключ1', '096e:0850', 'characters other than'],
    ['65 characters', 'x'.repeat(65), '096e:0850', '65 characters, 64 are allowed'],
  ])('%s', (_what, serial, ids, reason) => {
    const verdict = judge(serial, ids);
    expect(verdict.serial).toBeNull();
    expect(verdict.problem).toContain(reason);
    expect(verdict.problem).toContain('printed on it');
    expect(verdict.problem).not.toContain('\u001b');
  });
});
