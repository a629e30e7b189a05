/** How PC/SC looks in memory on each system, by hand from the headers, and the watch of readers on top of it. */
import { describe, expect, it } from 'vitest';
import { abiOf, Memory } from '../../drivers/pcsc/ffi/abi.ts';
import { PcscFailure, RESULT } from '../../drivers/pcsc/ffi/results.ts';
import { watchReaders } from '../../drivers/pcsc/ffi/watch-readers.ts';
import type { ListedReader } from '../../drivers/protocols/pcscd.ts';

describe('the layout of PC/SC', () => {
  it.each([
    ['linux', 'x64', 'uint64', 'int64', 80, 16, 24, '01000000000000001000000000000000'],
    ['linux', 'arm64', 'uint64', 'int64', 80, 16, 24, '01000000000000001000000000000000'],
    ['darwin', 'arm64', 'uint32', 'int32', 61, 16, 20, '0100000008000000'],
    ['win32', 'x64', 'uint32', 'uint64', 64, 16, 20, '0100000008000000'],
  ] as const)('%s on %s', (platform, machine, dword, handle, bytes, knownAt, presentAt, request) => {
    const abi = abiOf(platform, machine);
    expect(abi).toMatchObject({ dword, handle, readerState: { bytes, knownAt, presentAt } });
    expect(new Memory(abi!).ioRequest(1).toString('hex')).toBe(request);
  });

  it.each([
    ['linux', 'ia32'],
    ['sunos', 'x64'],
  ] as const)('%s on %s is not known', (platform, machine) => {
    expect(abiOf(platform, machine)).toBeNull();
  });

  it('handles keep their sign and all their bits', () => {
    const cell = Buffer.from('feffffffffffffff', 'hex');
    expect(new Memory(abiOf('linux', 'x64')!).readHandle(cell)).toBe(-2n);
    expect(new Memory(abiOf('darwin', 'arm64')!).readHandle(cell)).toBe(-2);
    expect(new Memory(abiOf('win32', 'x64')!).readHandle(cell)).toBe(0xffff_ffff_ffff_fffen);
  });

  it('the names of readers are separated by zeros, and survive the way back on each system', () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const memory = new Memory(abiOf(platform, 'x64')!);
      const list = Buffer.concat([memory.text('Lecteur é 00'), memory.text('B'), Buffer.alloc(1)]);
      expect(memory.texts(list)).toEqual(['Lecteur é 00', 'B']);
    }
  });
});

it('a result without a name is reported by its number', () => {
  expect(new PcscFailure(RESULT.TIMEOUT).code).toBe('Timeout');
  expect(new PcscFailure(0x8010_0099).code).toBe('0x80100099');
});

describe('the watch of readers', () => {
  const reader = (name: string, raw: number): ListedReader => ({ name, raw });

  /** Watches a service whose list and states are these, one step after the other; then stops. */
  function watched(steps: readonly { readonly list: string[]; readonly present: ListedReader[] | null }[]) {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const asked: (readonly ListedReader[])[] = [];
    const reports: string[] = [];
    let step = -1;
    const cards = {
      readers: () => steps[++step]!.list,
      changes: (known: readonly ListedReader[]) => {
        asked.push(known);
        if (step === steps.length - 1) Atomics.store(stop, 0, 1);
        return steps[step]!.present;
      },
    };
    watchReaders(cards, stop, list =>
      reports.push(list.map(({ name, raw }) => `${name}:${raw.toString(16)}`).join(' ')),
    );
    return { asked, reports };
  }

  it('asks with the states that it knows, and reports changes alone', () => {
    const { asked, reports } = watched([
      { list: ['A'], present: [reader('A', 0x10)] },
      { list: ['A'], present: [reader('A', 0x10)] },
      { list: ['A', 'B'], present: [reader('A', 0x1_0020), reader('B', 0x10)] },
    ]);
    expect(asked).toEqual([[reader('A', 0)], [reader('A', 0x10)], [reader('A', 0x10), reader('B', 0)]]);
    expect(reports).toEqual(['A:10', 'A:10020 B:10']);
  });

  it('reports a reader that is not listed any more before it waits for the next change', () => {
    const { reports } = watched([
      { list: ['A', 'B'], present: [reader('A', 0x10), reader('B', 0x20)] },
      { list: ['B'], present: null },
      { list: ['B'], present: [reader('B', 0x20)] },
    ]);
    expect(reports).toEqual(['A:10 B:20', 'B:20']);
  });
});
