import { describe, expect, test } from 'vitest';
import { judgeSerial } from '../../drivers/protocols/serial.ts';

const judge = (serial: string | null, ids = '096e:0850') => {
  const [vendorId, productId] = ids.split(':');
  return judgeSerial(serial, vendorId!, productId!);
};

describe('a serial is accepted', () => {
  test.each(['SN-0001', 'A', '0123456789ABCDEF', 'a_b.c:d/e-f', 'x'.repeat(64), '1000000000'])(
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

describe('a serial is rejected with the reason', () => {
  test.each([
    ['missing', null, '096e:0850', 'no readable serial'],
    ['empty', ' \t', '096e:0850', 'no readable serial'],
    ['one repeated digit', '0000000000', '096e:0850', 'placeholder'],
    ['a single digit', '1', '096e:0850', 'placeholder'],
    ['erased memory', 'FFFFFFFF', '096e:0850', 'placeholder'],
    ["OnlyKey's", '1000000000', '1d50:60fc', 'placeholder'],
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
    expect(verdict.problem).toContain('register it by hand');
    expect(verdict.problem).not.toContain('\u001b');
  });
});
