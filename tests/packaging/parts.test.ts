/** The program as it is built: a file with what every command needs, and parts that are loaded when they are reached. */
import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, devmgr, discard, programFile, startDaemon } from '../cli/program.ts';
import { temporaryFolder } from '../support/temporary.ts';

const root = join(import.meta.dirname, '../..');
const textsOf = (patterns: readonly string[]) =>
  globSync(patterns, { cwd: root }).map(file => readFileSync(join(root, file), 'utf8'));

/** How many classes of each name the files define. The bundler writes `X=class`, and `X$1` for a second X. */
function classesIn(texts: readonly string[]): Map<string, number> {
  const definition = /\b([A-Z]\w*)(?:\$\d+)?=class\b(?: [A-Z]\w*)?|\bclass ([A-Z]\w*)/g;
  const counts = new Map<string, number>();
  for (const [, assigned, declared] of texts.flatMap(text => [...text.matchAll(definition)])) {
    const name = assigned ?? declared!;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

describe('classes', () => {
  it('exist once, however many parts use them', () => {
    const written = classesIn(textsOf(['{src,daemon,drivers}/**/*.ts']));
    // The parts of the clients of S3, PostgreSQL and directories are left out: all of them define a Client too.
    const built = classesIn(
      textsOf(['dist/parts/main.cjs', 'dist/parts/{src,daemon,shared}-!(*s3-blobs|*postgres-index|*ldap-reader).cjs']),
    );
    const inBoth = [...written].filter(([name]) => built.has(name));
    expect(inBoth.length).toBeGreaterThan(20);
    expect(inBoth.filter(([name, count]) => built.get(name)! > count)).toEqual([]);
  });

  it('are recognised in one part when another part throws them', async () => {
    const refused = await devmgr(['register', '--type', 'UKEY', '--json']);
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 1001 } });
    const unanswered = await devmgr(['list', '--server', 'http://127.0.0.1:1', '--json'], {
      env: { DEVMGR_TOKEN: 'x' },
    });
    expect(JSON.parse(unanswered.stderr)).toMatchObject({ error: { code: 'UNREACHABLE' } });
  });
});

describe('a command', () => {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => discard(daemon));

  /** The files of the program that a run loads, without the two files of every run and the runtime of the bundler. */
  async function loadedBy(args: readonly string[]): Promise<string[]> {
    const folder = temporaryFolder();
    const [hook, list] = [join(folder, 'hook.cjs'), join(folder, 'loaded')];
    writeFileSync(
      hook,
      `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, Object.keys(require.cache).join('\\n')));`,
    );
    const { code, stderr } = await daemon.run(args, { env: { NODE_OPTIONS: `--require=${hook}` } });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const loaded = readFileSync(list, 'utf8')
      .split('\n')
      .filter(file => file.startsWith(join(root, 'dist')));
    expect(loaded).toContain(programFile);
    return loaded.map(file => basename(file)).filter(name => !/^(devmgr|main|rolldown-runtime)\.cjs$/.test(name));
  }

  it('that prints the version loads no part', async () => {
    expect(await loadedBy(['--version'])).toEqual([]);
  });

  it('loads neither the daemon nor another command', async () => {
    const loaded = await loadedBy(['list']);
    expect(loaded).toContain('src-cli-commands-devices-list.cjs');
    expect(loaded.filter(name => name.startsWith('daemon-'))).toEqual([]);
    expect(loaded.filter(name => name.startsWith('src-cli-commands-'))).toHaveLength(1);
  });

  it('loads a package when it uses it', async () => {
    const { deviceId } = await daemon.register('PART-1');
    expect(await loadedBy(['show', deviceId])).not.toContain('uqr.cjs');
    expect(await loadedBy(['show', deviceId, '--qr'])).toContain('uqr.cjs');
  });
});

describe('compiled code of earlier runs', () => {
  const cached = (home: string) => globSync('.cache/devmgr/compiled/**/*', { cwd: home });
  const runWith = (home: string, more: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, [programFile, '--version'], {
      env: { PATH: process.env.PATH, HOME: home, USERPROFILE: home, ...more },
      encoding: 'utf8',
    });

  it("is kept in the user's cache folder, where no other user can write", () => {
    const home = temporaryFolder();
    expect(runWith(home)).toMatchObject({ status: 0, stderr: '' });
    expect(cached(home)).not.toEqual([]);
    expect(statSync(join(home, '.cache/devmgr/compiled')).mode & 0o777).toBe(0o700);
    const elsewhere = temporaryFolder();
    runWith(home, { XDG_CACHE_HOME: elsewhere });
    expect(globSync('devmgr/compiled/*', { cwd: elsewhere })).not.toEqual([]);
  });

  it('is not used where another user could change it', () => {
    const home = temporaryFolder();
    const folder = join(home, '.cache/devmgr/compiled');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o770);
    expect(runWith(home)).toMatchObject({ status: 0, stderr: '' });
    expect(cached(home)).toEqual([]);
    chmodSync(folder, 0o700);
    for (const parent of ['.cache', '.cache/devmgr']) {
      chmodSync(join(home, parent), 0o777);
      runWith(home);
      expect([parent, cached(home)]).toEqual([parent, []]);
      chmodSync(join(home, parent), 0o700);
    }
    chmodSync(home, 0o777);
    runWith(home);
    expect(cached(home)).toEqual([]);
  });

  it('is not needed: a home that does not exist, or a file in its place', () => {
    expect(runWith('/nonexistent')).toMatchObject({ status: 0, stderr: '' });
    const home = temporaryFolder();
    writeFileSync(join(home, '.cache'), '');
    expect(runWith(home)).toMatchObject({ status: 0, stderr: '' });
    expect(runWith(home, { NODE_DISABLE_COMPILE_CACHE: '1' })).toMatchObject({ status: 0, stderr: '' });
  });
});
