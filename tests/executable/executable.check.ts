import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { BareRoot } from './root.ts';

const bare = new BareRoot();
afterAll(() => bare.remove());
afterEach(() => bare.run('devmgr daemon stop || true'));

describe('the executable, where there is nothing but the C library', () => {
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
    expect(stderr).toContain('What to type next');
    expect(stdout).toContain('"status":"LOCKED"');
    expect(stdout).toContain('whole:');
    expect(code).toBe(0);
  });

  it('registers a CSV', async () => {
    const { code, stdout } = await bare.run(`
      devmgr quickstart --quiet
      printf 'serialNumber,deviceType,manufacturer,model\\nUK-1,UKEY,Acme,K1\\n' >box.csv
      devmgr register --file box.csv --csv`);
    expect(stdout).toMatch(/^2,UK-1,success,DEV-\d+,/m);
    expect(code).toBe(0);
  });

  it('says which libraries USB and PC/SC want', async () => {
    const { stdout } = await bare.run('devmgr quickstart --quiet; devmgr doctor || true');
    expect(stdout).toContain('apt-get install libudev1');
    expect(stdout).toContain('libpcsclite1');
  });
});

describe('native modules that lie in the executable', () => {
  it('leave nothing behind on disk that could be changed before it is loaded again', async () => {
    expect((await bare.run('devmgr quickstart')).code).toBe(0);
    for (const place of ['tmp', 'home', 'work'])
      expect(readdirSync(join(bare.folder, place)).filter(name => name.startsWith('devmgr-'))).toEqual([]);
  });

  it('are loaded by many first starts at once', async () => {
    const start = 'devmgr daemon check --home';
    const { code, stdout } = await bare.run(`
      devmgr quickstart
      devmgr daemon stop
      for i in 1 2 3 4 5 6; do ${start} /home/.local/share/devmgr >out$i & done
      wait
      cat out1 out2 out3 out4 out5 out6`);
    expect(stdout.match(/whole:/g)).toHaveLength(6);
    expect(code).toBe(0);
  });

  const noexec = (place: string) => `mount -t tmpfs -o noexec,size=64m none ${place}`;

  it('are loaded from another folder where the temporary one allows no programs', async () => {
    const { code } = await bare.run('devmgr quickstart', { before: noexec('/tmp') });
    expect(code).toBe(0);
  });

  it('say what to set where no folder allows programs', async () => {
    const before = ['/tmp', '/home'].map(noexec).join('; ');
    const { code, stderr } = await bare.run('devmgr daemon run --port 0', { before });
    expect(stderr).toContain('Set TMPDIR to a folder');
    expect(code).not.toBe(0);
  });
});

describe('homes that cannot be used', () => {
  it('a read-only one is named, with the way to name another', async () => {
    const { code, stderr } = await bare.run('devmgr daemon run --port 0', {
      before: 'mount -t tmpfs -o ro none /home',
    });
    expect(stderr).toMatch(/\/home\/\.local\/share\/devmgr/);
    expect(code).toBe(1);
  });

  it('without any, the flag and the variable are named', async () => {
    const { code, stderr } = await bare.run('unset HOME; devmgr list');
    expect(stderr).toContain('--home DIR');
    expect(code).toBe(1);
  });
});
