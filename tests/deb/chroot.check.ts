/** The package where no systemd runs: a container, a chroot, an image that is being made. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { next, present } from './packages.ts';
import { chroot, inDebian, removeRoot, unpackRoot } from './roots.ts';

inDebian('in a Debian without systemd', () => {
  let root: string;
  beforeAll(() => {
    root = unpackRoot('minbase');
    for (const { file, name } of [present, next]) copyFileSync(file, join(root, 'tmp', name));
  });
  afterAll(() => removeRoot(root));
  const run = (script: string) => chroot(root, `set -e; ${script}`);
  const answer = (script: string) => {
    const { status, output } = run(script);
    expect(output, script).not.toMatch(/^E:|dpkg: error/m);
    expect(status, output).toBe(0);
    return output.trim();
  };
  /** The daemon as the unit starts it, for as long as the script takes. */
  const withService = (script: string) =>
    answer(`
      export DEVMGR_HOME=/var/lib/devmgr
      as='setpriv --reuid devmgr --regid devmgr --init-groups'
      exec 3< <(exec $as devmgr daemon run --json --simulate-keys 1) && daemon=$!
      while read -r line <&3; do case $line in *listening*) break;; esac; done
      cat <&3 >/dev/null &
      ${script}
      kill $daemon; wait $daemon`);

  it('it installs with its dependencies alone, without what it recommends', () => {
    const output = answer(`apt-get install -y --no-install-recommends /tmp/${present.name}`);
    expect(output).toContain('Setting up devmgr');
    expect(answer('devmgr --version')).toContain(present.version);
    expect(answer('stat -c "%U %a" /var/lib/devmgr')).toBe('devmgr 700');
    expect(run('command -v node || command -v nodejs').status).not.toBe(0);
  });

  it('the rules that open keys and readers are in place', () => {
    expect(answer('devmgr doctor --fix')).toContain('All rules are already installed.');
  });

  it('the daemon runs as the user devmgr, and shows what SIM cards want', () => {
    const output = withService('$as devmgr quickstart --json; $as devmgr doctor || true');
    expect(output).toContain('"simulated":true');
    expect(output).toContain('apt-get install');
    expect(output).toContain('libpcsclite1');
  });

  it('what it recommends is all there for a reader', () => {
    answer('apt-get install -y --no-install-recommends libpcsclite1 pcscd');
    expect(withService('$as devmgr doctor || true')).not.toContain('libpcsclite1');
  });

  it('an upgrade keeps registry and settings', () => {
    answer('echo "DEVMGR_RUN_OPTIONS=--port 7471" >>/etc/default/devmgr');
    answer(`apt-get install -y --no-install-recommends /tmp/${next.name}`);
    expect(answer('dpkg --status devmgr')).toContain(`Version: ${next.version}`);
    expect(answer('tail -n 1 /etc/default/devmgr')).toContain('7471');
    expect(withService('$as devmgr list --json')).toContain('"DEV-1"');
  });

  it('removal keeps them, and a new installation finds them', () => {
    answer('apt-get remove -y devmgr');
    expect(run('test -e /usr/bin/devmgr').status).not.toBe(0);
    answer(`apt-get install -y --no-install-recommends /tmp/${next.name}`);
    expect(withService('$as devmgr list --json')).toContain('"DEV-1"');
  });

  it('purge leaves the locked account alone', () => {
    answer('apt-get purge -y devmgr');
    expect(answer('find / -xdev -iname "*devmgr*" -not -path "/tmp/*" -not -path "/var/cache/*"')).toBe('');
    expect(answer('getent passwd devmgr')).toContain('nologin');
  });

  it('purge of a package that was removed before fails at nothing', () => {
    answer(
      `apt-get install -y --no-install-recommends /tmp/${next.name}; apt-get remove -y devmgr; dpkg --purge devmgr`,
    );
    expect(run('test -e /var/lib/devmgr').status).not.toBe(0);
  });
});
