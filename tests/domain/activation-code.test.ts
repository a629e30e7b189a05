import { expect, test } from 'vitest';
import { newActivationCode, sameActivationCode } from '../../daemon/devices/activation-code.ts';
import { activationCode } from '../../src/contract/device-fields.ts';
import { activationAlphabet } from '../../src/contract/values.ts';

test('a code is four groups of four symbols of the alphabet', () => {
  expect(new Set(activationAlphabet).size).toBe(32);
  expect(activationAlphabet).not.toMatch(/[01IO]/);
  const shape = new RegExp((activationCode as unknown as { pattern: string }).pattern);
  for (let i = 0; i < 1000; i++) expect(newActivationCode()).toMatch(shape);
});

test('codes do not repeat and use every symbol about equally often', () => {
  const codes = Array.from({ length: 20_000 }, newActivationCode);
  expect(new Set(codes).size).toBe(codes.length);
  const counts = new Map<string, number>();
  for (const symbol of codes.join('').replaceAll('-', '')) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
  expect(counts.size).toBe(32);
  for (const count of counts.values()) expect(Math.abs(count / 10_000 - 1)).toBeLessThan(0.1);
});

test('comparison ignores case and nothing else', () => {
  const code = newActivationCode();
  expect(sameActivationCode(code, code)).toBe(true);
  expect(sameActivationCode(code.toLowerCase(), code)).toBe(true);
  expect(sameActivationCode(code.replaceAll('-', ''), code)).toBe(false);
  expect(sameActivationCode(`${code} `, code)).toBe(false);
  expect(sameActivationCode('', code)).toBe(false);
});
