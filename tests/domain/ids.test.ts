/** Each identifier has one spelling, so that two texts never name the same record. */
import { describe, expect, test } from 'vitest';
import { backupIds, deviceIds, userIds, versionIds } from '../../src/contract/ids.ts';

describe.each([
  ['DEV-', deviceIds],
  ['USR-', userIds],
  ['APP-', versionIds],
  ['BKP-', backupIds],
] as const)('%s', (prefix, ids) => {
  test.each([1, 10, 999_999_999_999_999])('%d is read back', number => {
    expect(ids.format(number)).toBe(`${prefix}${number}`);
    expect(ids.parse(`${prefix}${number}`)).toBe(number);
  });

  test.each(['01', '0', '-1', '1.0', '1e3', '1 ', ' 1', '1\n', '', '٣', '1000000000000000'])(
    'followed by %j it names nothing',
    rest => {
      expect(ids.parse(prefix + rest)).toBeNull();
    },
  );

  test('in lower case, after white space or without a number is not valid', () => {
    expect([`${prefix.toLowerCase()}1`, ` ${prefix}1`, '1', 'XXX-1'].map(ids.parse)).toEqual([null, null, null, null]);
  });
});
