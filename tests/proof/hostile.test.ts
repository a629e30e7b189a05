/** Hostile bytes: a typed error each. `npm run fuzz` tries 100,000 for each reader. */
import { describe, expect, it } from 'vitest';
import { childrenOf, oidOf, readDer, timeOf, unsignedOf } from '../../daemon/proofs/judge/der.ts';
import { MalformedError } from '../../daemon/proofs/judge/malformed.ts';
import { readCbor } from '../../drivers/protocols/cbor.ts';
import type { Evidence } from '../../src/contract/proof.ts';
import { tryForeignRoots } from '../fuzz/foreign-roots.ts';
import { mutated, randomNumbers, tryReader } from '../fuzz/proof.ts';
import { sampledReaders } from '../fuzz/proof-samples.ts';
import { genuineAnswers, text, verdict } from './fixtures.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');

describe('the reader of CBOR', () => {
  it.each([
    ['0a', 10],
    ['1818', 24],
    ['1b001fffffffffffff', Number.MAX_SAFE_INTEGER],
    ['20', -1],
    ['3903e7', -1000],
    ['f5', true],
    ['f6', null],
    ['6161', 'a'],
    ['80', []],
    ['820102', [1, 2]],
    ['a1016162', new Map([[1, 'b']])],
  ])('reads %s', (hex, value) => {
    expect(readCbor(bytes(hex))).toEqual(value);
  });

  it.each([
    ['nothing', ''],
    ['an integer that is not minimal', '1817'],
    ['a length that is not minimal', '580101'],
    ['an integer above 2^53', '1b0020000000000000'],
    ['an indefinite length', '5f4101ff'],
    ['an indefinite array', '9f01ff'],
    ['a tag', 'c001'],
    ['a float', 'f93c00'],
    ['undefined', 'f7'],
    ['a break', 'ff'],
    ['a text that is not UTF-8', '61ff'],
    ['a key twice', 'a201010102'],
    ['a map as key', 'a1a001'],
    ['bytes as key', 'a1410101'],
    ['bytes after the item', '0000'],
    ['more bytes announced than follow', '5b000000ffffffffff'],
    ['2^32 items announced', '9affffffff'],
    ['nine levels', `${'81'.repeat(9)}01`],
    ['10,000 levels', `${'81'.repeat(10_000)}01`],
  ])('refuses %s', (_, hex) => {
    expect(() => readCbor(bytes(hex))).toThrow(MalformedError);
  });

  it('reads nothing outside a part of a larger buffer', () => {
    const large = Buffer.concat([bytes('4401'), Buffer.from('secret')]);
    expect(() => readCbor(large.subarray(0, 2))).toThrow(MalformedError);
  });
});

describe('the reader of DER', () => {
  it('reads identifiers, integers and times', () => {
    expect(oidOf(readDer(bytes('060a2b0601040182c40a0701')))).toBe('1.3.6.1.4.1.41482.7.1');
    expect(oidOf(readDer(bytes('0603883703')))).toBe('2.999.3');
    expect(unsignedOf(readDer(bytes('02020080')))).toBe(128n);
    expect(timeOf(readDer(Buffer.concat([bytes('170d'), Buffer.from('491231235959Z')]))).toISOString()).toBe(
      '2049-12-31T23:59:59.000Z',
    );
    expect(timeOf(readDer(Buffer.concat([bytes('170d'), Buffer.from('500101000000Z')]))).toISOString()).toBe(
      '1950-01-01T00:00:00.000Z',
    );
  });

  it.each([
    ['nothing', ''],
    ['a tag without a length', '30'],
    ['an indefinite length', '30800000'],
    ['a length that is not minimal', '04810101'],
    ['a length with a leading zero', `0482007f${'00'.repeat(127)}`],
    ['a length of four bytes', '048400000001ff'],
    ['more than follows', '0402ff'],
    ['bytes after the element', '0500ff'],
    ['a tag number above 30', '1f8101'],
  ])('refuses %s', (_, hex) => {
    expect(() => readDer(bytes(hex))).toThrow(MalformedError);
  });

  it.each([
    ['an integer that is not minimal', () => unsignedOf(readDer(bytes('02020001')))],
    ['a negative integer', () => unsignedOf(readDer(bytes('0201ff')))],
    ['an integer without bytes', () => unsignedOf(readDer(bytes('0200')))],
    ['an identifier that ends in an arc', () => oidOf(readDer(bytes('06022b86')))],
    ['an arc that is not minimal', () => oidOf(readDer(bytes('06032b8001')))],
    ['the 30th of February', () => timeOf(readDer(Buffer.concat([bytes('170d'), Buffer.from('260230000000Z')])))],
    ['a time with a zone', () => timeOf(readDer(Buffer.concat([bytes('1711'), Buffer.from('260101000000+0100')])))],
    ['children of a primitive', () => childrenOf(readDer(bytes('0400')))],
    ['257 children', () => childrenOf(readDer(bytes(`30820202${'0500'.repeat(257)}`)))],
  ])('refuses %s', (_, read) => {
    expect(read).toThrow(MalformedError);
  });
});

describe('hostile inputs', () => {
  it.each(sampledReaders().map(reader => [reader.name, reader] as const))(
    '%s: a value or a typed error',
    async (_, reader) => {
      for (const sample of reader.samples) await reader.read(sample);
      const { faults, refused } = await tryReader(reader, { seed: 14, count: 2000 });
      expect(faults).toEqual([]);
      expect(refused).toBeGreaterThan(500);
    },
  );
});

describe('evidence that was changed anywhere', () => {
  const { asked, evidence: samples } = genuineAnswers();

  function spoiled(evidence: Evidence, next: (limit: number) => number): Evidence {
    const change = (value: string) => text(mutated(Buffer.from(value, 'base64url'), next));
    if (evidence.method === 'fido') return { ...evidence, attestationObject: change(evidence.attestationObject) };
    if (evidence.method === 'u2f') return { ...evidence, registration: change(evidence.registration) };
    const which = next(3);
    if (which === 0) return { ...evidence, receipt: change(evidence.receipt) };
    if (which === 1) return { ...evidence, cardPublicKey: change(evidence.cardPublicKey) };
    return { ...evidence, chain: [...evidence.chain.slice(0, -1), change(evidence.chain.at(-1)!)] };
  }

  it.each(samples.map(sample => [sample.method, sample] as const))(
    '%s: proves nothing, and the judge does not throw',
    (_, sample) => {
      const next = randomNumbers(14);
      expect(verdict(sample, asked).rule).toBeNull();
      for (let tried = 0; tried < 500; tried++) {
        const evidence = spoiled(sample, next);
        if (JSON.stringify(evidence) === JSON.stringify(sample)) continue;
        expect(['failed', 'claimed', 'none'], JSON.stringify(evidence)).toContain(verdict(evidence, asked).proof.grade);
      }
    },
  );
});

it('evidence under roots that the registry does not trust, of every shape, proves neither a model nor a unit', () => {
  expect(tryForeignRoots({ seed: Date.now() % 1_000_000_000, count: 100 })).toEqual([]);
});
