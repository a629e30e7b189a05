import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../daemon/files/versions.ts';
import { appOperations } from '../../src/contract/apps.ts';
import { compileReader } from '../../src/contract/validate.ts';

const order = (a: string, b: string) => Math.sign(compareVersions(a, b));

const number = fc.integer({ min: 0, max: 99_999_999_999_999 }).map(String);
const few = fc.constantFrom('0', '1', '2', '10');
const numbers = fc.array(fc.oneof(few, number), { minLength: 1, maxLength: 4 }).map(parts => parts.join('.'));
const identifier = fc.oneof(
  few,
  fc.constantFrom('rc', 'alpha', 'beta', 'rc1', '007'),
  fc.stringMatching(/^[0-9A-Za-z-]{1,12}$/),
);
const identifiers = fc.array(identifier, { minLength: 1, maxLength: 3 }).map(parts => parts.join('.'));
const preRelease = fc.option(identifiers, { nil: null }).map(text => (text ? `-${text}` : ''));
const build = fc.option(identifiers, { nil: null }).map(text => (text ? `+${text}` : ''));
const version = fc.tuple(numbers, preRelease, build).map(parts => parts.join(''));

describe('the order of versions', () => {
  it('follows the example of Semantic Versioning', () => {
    const chain = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
    ];
    for (let i = 0; i < chain.length; i++)
      for (let j = 0; j < chain.length; j++)
        expect([chain[i], chain[j], order(chain[i]!, chain[j]!)]).toEqual([chain[i], chain[j], Math.sign(i - j)]);
  });

  it.each([
    ['1.10.0', '1.9.9', 1],
    ['2', '10', -1],
    ['1.0.0.1', '1.0', 1],
    ['1.0.202611201234', '1.0.99', 1],
    ['9007199254740993', '9007199254740992', 1],
    ['01.002', '1.2', 0],
    ['1.0', '1.0.0.0', 0],
    ['1.0-rc.1', '1.0.0-rc.1', 0],
    ['1.0.0-rc.1', '1', -1],
    ['1.0.0-rc.1', '0.9.9', 1],
    ['1.0.0+build.5', '1.0.0+build.4', 0],
    ['1.0.0+5', '1.0.0-5', 1],
    ['1.0.0-rc.1+7', '1.0.0-rc.1', 0],
    ['1.0.0-a-b', '1.0.0-a', 1],
    ['1.0.0-99999999999999999999', '1.0.0-100000000000000000000', -1],
    ['1.0.0-10', '1.0.0-9a', -1],
    ['1.0.0-RC', '1.0.0-rc', -1],
  ])('%s against %s is %i', (a, b, expected) => {
    expect([order(a, b), order(b, a)]).toEqual([expected, 0 - expected]);
  });

  it('is antisymmetric and transitive', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(order(a, a)).toBe(0);
        expect(order(a, b) + order(b, a)).toBe(0);
        const [low, middle, high] = [a, b, c].sort(compareVersions) as [string, string, string];
        expect(order(low, middle) <= 0 && order(middle, high) <= 0 && order(low, high) <= 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('treats missing parts as 0 and ignores build metadata', () => {
    fc.assert(
      fc.property(numbers, preRelease, build, (core, pre, metadata) => {
        const missing = 4 - core.split('.').length;
        expect(order(core + pre, `${core}${'.0'.repeat(missing)}${pre}${metadata}`)).toBe(0);
      }),
    );
  });

  it('puts every pre-release before its release and after every lower release', () => {
    fc.assert(
      fc.property(numbers, identifiers, (core, pre) => {
        expect(order(`${core}-${pre}`, core)).toBe(-1);
        const parts = core.split('.').map(Number);
        if (parts.at(-1)! > 0)
          expect(order(`${core}-${pre}`, [...parts.slice(0, -1), parts.at(-1)! - 1].join('.'))).toBe(1);
      }),
    );
  });

  it('is tested with versions that the contract accepts', () => {
    const read = compileReader(appOperations.uploadAppVersion.form, 'text');
    fc.assert(
      fc.property(version, text => {
        fc.pre(text.length <= 64);
        expect(read({ platform: 'LINUX', version: text })).toMatchObject({ ok: true });
      }),
    );
  });
});
