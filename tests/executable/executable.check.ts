import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { blocksOf } from '../docs/shell.ts';
import { BareRoot } from './root.ts';

const bare = new BareRoot();
afterAll(() => bare.remove());
afterEach(() => bare.run('devmgr daemon stop || true'));

describe('the executable on a system that has only the C library', () => {
  it('goes from nothing to an activated and a locked device', async () => {
    const { code, stdout, stderr } = await bare.run(`
      devmgr quickstart
      code=$(devmgr show DEV-1 --json | sed 's/.*"activationCode":"\\([^"]*\\)".*/\\1/')
      devmgr activate DEV-1 --code "$code" --user alice
      devmgr lock DEV-1 --reason "left on a train"
      devmgr list --json
      devmgr daemon audit --verify
      devmgr daemon backup copy.db
      devmgr daemon check`);
    expect(stderr).toContain('Next steps:');
    expect(stdout).toContain('"status":"LOCKED"');
    expect(stdout).toContain('OK:');
    expect(code).toBe(0);
  });

  it('does what the README shows, block after block', async () => {
    const blocks = blocksOf(readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8'), 'sh');
    expect(blocks.length).toBeGreaterThan(3);
    const script = blocks.map(({ line, code }) => `echo "README line ${line}" >&2\n${code}`).join('\n');
    const { code, stderr } = await bare.run(`mkdir -p /work/readme; cd /work/readme; ${script}`, {
      env: { HOME: '/work/readme' },
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  it('registers a CSV', async () => {
    const { code, stdout } = await bare.run(`
      devmgr quickstart --quiet
      printf 'serialNumber,deviceType,manufacturer,model\\nUK-1,UKEY,Acme,K1\\n' >box.csv
      devmgr register --file box.csv --csv`);
    expect(stdout).toMatch(/^2,UK-1,success,DEV-\d+,/m);
    expect(code).toBe(0);
  });

  it('shows which libraries USB and PC/SC want', async () => {
    const { stdout } = await bare.run('devmgr quickstart --quiet; devmgr doctor || true');
    expect(stdout).toContain('apt-get install libudev1');
    expect(stdout).toContain('libpcsclite1');
  });
});

describe('what it reports about itself', () => {
  it('needs neither a home nor a library', async () => {
    const { code, stdout, stderr } = await bare.run('unset HOME; devmgr --version');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^devmgr \d[\s\S]*single executable[\s\S]*^better-sqlite3 +\d/m);
  });

  it('names the licenses of all that is in it, Node and the native packages included', async () => {
    const { code, stdout } = await bare.run('devmgr version --licenses');
    expect(code).toBe(0);
    for (const part of ['MIT License', 'fastify 5', 'better-sqlite3 ', 'node-hid ', 'Node.js is licensed for use']) {
      expect(stdout).toContain(part);
    }
  });

  it('is in a report, which is written without a daemon', async () => {
    const { code, stdout } = await bare.run('devmgr doctor --report -');
    expect(code).toBe(0);
    expect(stdout).toContain('single executable');
  });
});

describe('files that come with the program', () => {
  it('are in it: the rules for keys, and the unit of a service', async () => {
    const { code, stdout } = await bare.run(`
      devmgr doctor --fix --yes --root /work/image >/dev/null
      cat /work/image/etc/udev/rules.d/70-devmgr.rules
      devmgr daemon install --print`);
    expect(code).toBe(0);
    expect(stdout).toContain('SUBSYSTEM');
    expect(stdout).toMatch(/^ExecStart=\/bin\/devmgr daemon run --home \/home\/.local\/share\/devmgr --json$/m);
  });
});

const mounted = (place: string, options: string) => `mount -t tmpfs -o ${options} none ${place}`;
const everywhere = (options: string) => ['/tmp', '/home'].map(place => mounted(place, options)).join('; ');
const modules = ['better-sqlite3', 'usb', 'node-hid', 'keyring'];

describe('native modules inside the executable', () => {
  it('leave nothing behind on disk that could be changed before it is loaded again', async () => {
    expect((await bare.run('devmgr quickstart')).code).toBe(0);
    for (const place of ['tmp', 'home', 'work'])
      expect(readdirSync(join(bare.folder, place)).filter(name => name.startsWith('devmgr-'))).toEqual([]);
  });

  it('are never taken from a folder that somebody else has laid ready', async () => {
    const names = ['devmgr', 'devmgr-', 'devmgr-000000', 'devmgr-native', '.devmgr'];
    const lay = names.flatMap(name => [
      `mkdir -p /tmp/${name}`,
      ...modules.map(module => `echo changed >/tmp/${name}/${module}.node`),
      `chmod -R 777 /tmp/${name}`,
    ]);
    const { code, stdout } = await bare.run(`
      ${lay.join('\n')}
      devmgr quickstart --quiet
      devmgr daemon check --json
      cat /tmp/devmgr-/better-sqlite3.node
      rm -r ${names.map(name => `/tmp/${name}`).join(' ')}`);
    expect(stdout).toContain('changed\n');
    expect(code).toBe(0);
  });

  it('are loaded by eight first starts at once, and one daemon comes of eight', async () => {
    const { code, stdout } = await bare.run(`
      for i in 1 2 3 4 5 6 7 8; do devmgr daemon start --json --home /work/one >start$i & done
      wait
      cat start*
      devmgr daemon stop --home /work/one
      for i in 1 2 3 4 5 6 7 8; do devmgr daemon check --home /work/one >check$i & done
      wait
      cat check*
      rm -r /work/one`);
    expect(code).toBe(0);
    expect(new Set([...stdout.matchAll(/"pid":(\d+)/g)].map(([, pid]) => pid)).size).toBe(1);
    expect(stdout.match(/"running":true/g)).toHaveLength(8);
    expect(stdout.match(/OK:/g)).toHaveLength(8);
  });

  it.each([
    ['allows no programs', 'noexec,size=64m'],
    ['is read-only', 'ro'],
    ['is full', 'size=64k'],
  ])('are loaded from another folder where the temporary one %s', async (_, options) => {
    const { code, stderr } = await bare.run('devmgr quickstart', { before: mounted('/tmp', options) });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  it.each([
    ['allows programs', 'noexec,size=64m'],
    ['has room', 'size=512k'],
  ])('say what to set where no folder %s', async (_, options) => {
    const { code, stderr } = await bare.run('devmgr daemon run --port 0', { before: everywhere(options) });
    expect(stderr).toContain('Set TMPDIR to a folder');
    expect(code).not.toBe(0);
    const before = `${everywhere(options)}; ${mounted('/work', 'size=64m')}; mkdir /work/tmp`;
    const set = await bare.run('TMPDIR=/work/tmp devmgr daemon check --home /work/none', { before });
    expect(set.stderr).not.toContain('TMPDIR');
  });
});

describe('homes that cannot be used', () => {
  it.each([
    ['a read-only one', mounted('/home', 'ro'), /\/home\/\.local\/share\/devmgr/],
    [
      'a full one',
      `${mounted('/home', 'size=16k')}; dd if=/dev/zero of=/home/full 2>/dev/null || true`,
      /ENOSPC|no space|full/i,
    ],
    ['a link', 'ln -s /work /tmp/linked; export DEVMGR_HOME=/tmp/linked', /is a symbolic link/],
    [
      'that of another user',
      'mkdir -p /tmp/theirs; chown 65534 /tmp/theirs; export DEVMGR_HOME=/tmp/theirs',
      /belongs to another user/,
    ],
  ])('%s is named, with what to do', async (_, before, words) => {
    const { code, stderr } = await bare.run(
      'devmgr daemon run --port 0; x=$?; rm -rf /tmp/linked /tmp/theirs; exit $x',
      { before },
    );
    expect(stderr).toMatch(words);
    expect(stderr).toMatch(/--home|DEVMGR_HOME|free some space/);
    expect(code).toBe(1);
  });

  it('without any, the flag and the variable are named, and either serves', async () => {
    const { code, stderr } = await bare.run('unset HOME; devmgr list');
    expect(stderr).toContain('--home DIR');
    expect(code).toBe(1);
    const given = await bare.run(
      'unset HOME; devmgr quickstart --home /work/given; devmgr daemon stop --home /work/given',
    );
    expect(given.code).toBe(0);
  });
});
