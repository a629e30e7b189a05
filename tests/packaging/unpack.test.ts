/** How the single executable writes a native module to disk to load it. What is "loaded" here is the content of the file. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadKept, loadOnce } from '../../scripts/executable/unpack.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'unpack-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const carried = { name: 'module', bytes: Buffer.alloc(100_000, 'right') };
const load = (file: string) => readFileSync(file);

/** Loads it from a folder that is kept; resolves to what was loaded, from where, and what was said. */
function keep(base: string) {
  let from = '';
  const notices: string[] = [];
  const open = (file: string) => {
    from = file;
    return load(file);
  };
  const found = loadKept(carried, base, open, text => notices.push(text)) as Buffer;
  return { right: found.equals(carried.bytes), from, notices };
}

describe('a module in a folder that is kept', () => {
  test('is unpacked once, for this user alone, and held against its digest from then on', () => {
    const base = temporaryFolder();
    const { from, right } = keep(base);
    expect(right).toBe(true);
    expect(statSync(dirname(from)).mode & 0o077).toBe(0);
    const { ino } = statSync(from);
    expect(keep(base)).toEqual({ right: true, from, notices: [] });
    expect(statSync(from).ino).toBe(ino);
  });

  test.each([
    ['changed', (file: string) => writeFileSync(file, 'wrong')],
    ['longer by a byte', (file: string) => writeFileSync(file, Buffer.concat([carried.bytes, Buffer.of(0)]))],
    [
      'a link to another',
      (file: string) => {
        writeFileSync(`${file}.other`, carried.bytes);
        rmSync(file);
        symlinkSync(`${file}.other`, file);
      },
    ],
  ])('is not loaded if it is %s: this is reported, and it is unpacked again', (_, tamper) => {
    const base = temporaryFolder();
    const { from } = keep(base);
    tamper(from);
    const again = keep(base);
    expect(again).toMatchObject({ right: true, notices: [expect.stringContaining('had been changed')] });
    expect(statSync(from).size).toBe(carried.bytes.length);
    expect(keep(base).notices).toEqual([]);
  });

  test('is loaded from no folder that is a link, or open to others', () => {
    const base = temporaryFolder();
    const folder = dirname(keep(base).from);
    chmodSync(folder, 0o777);
    expect(() => keep(base)).toThrow(/not a private folder of this user/);
    rmSync(folder, { recursive: true });
    const elsewhere = join(base, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, folder);
    expect(() => keep(base)).toThrow(/not a private folder of this user/);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('is loaded from no folder of another user', () => {
    const base = temporaryFolder();
    const folder = dirname(keep(base).from);
    chownSync(folder, 65_534, 65_534);
    expect(() => keep(base)).toThrow(/not a private folder of this user/);
  });

  test('is put in place once by eight first starts at the same moment', async () => {
    const base = temporaryFolder();
    const source = JSON.stringify(pathToFileURL('scripts/executable/unpack.ts').href);
    const program = `
      import { loadKept } from ${source};
      import { readFileSync } from 'node:fs';
      process.stdout.write('ready');
      process.stdin.once('data', () => {
        const bytes = Buffer.alloc(20_000_000, 'right');
        const found = loadKept({ name: 'module', bytes }, ${JSON.stringify(base)}, file => readFileSync(file), text => { throw new Error(text); });
        process.exit(found.equals(bytes) ? 0 : 1);
      });`;
    const starts = Array.from({ length: 8 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    await Promise.all(starts.map(start => new Promise(resolve => start.stdout.once('data', resolve))));
    const codes = starts.map(start => new Promise(resolve => start.once('exit', resolve)));
    for (const start of starts) start.stdin.write('go');
    expect(await Promise.all(codes)).toEqual(Array(8).fill(0));
    const [folder = ''] = readdirSync(base);
    expect(readdirSync(join(base, folder))).toEqual(['module.node']);
  });
});

describe('a module that is loaded once', () => {
  test('is in a private folder of this user while it is loaded, and nowhere afterwards', () => {
    const place = temporaryFolder();
    const modes: number[] = [];
    const found = loadOnce(carried, [place], file => {
      modes.push(statSync(dirname(file)).mode & 0o777, statSync(file).mode & 0o777);
      return load(file);
    });
    expect((found as Buffer).equals(carried.bytes)).toBe(true);
    expect(modes).toEqual([0o700, 0o700]);
    expect(readdirSync(place)).toEqual([]);
  });

  test('is gone as well where it could not be loaded', () => {
    const place = temporaryFolder();
    const open = () => {
      throw new Error('libudev.so.1: cannot open shared object file');
    };
    expect(() => loadOnce(carried, [place], open)).toThrow(/libudev/);
    expect(readdirSync(place)).toEqual([]);
  });

  test('uses another folder if one is absent or allows no programs, and shows what to set if none is left', () => {
    const noPrograms = temporaryFolder();
    const good = temporaryFolder();
    const open = (file: string) => {
      if (file.startsWith(noPrograms)) throw new Error(`${file}: failed to map segment from shared object`);
      return load(file);
    };
    const places = [join(good, 'absent'), noPrograms];
    expect((loadOnce(carried, [...places, good], open) as Buffer).equals(carried.bytes)).toBe(true);
    expect(() => loadOnce(carried, places, open)).toThrow(/Set TMPDIR to a folder .* Tried: .*absent.*unpack-/s);
  });
});
