import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { UDEV_RULES } from '../../drivers/hid/errors.ts';
import { variables } from '../../src/cli/framework/environment.ts';
import { needs } from '../support/needs.ts';

const folder = join(import.meta.dirname, '../../packaging');
const text = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('the udev rules', () => {
  it('are those that the program tells people to write', () => {
    const lines = text('udev/70-devmgr.rules').split('\n');
    expect(lines.filter(line => line !== '' && !line.startsWith('#'))).toEqual(UDEV_RULES);
  });
});

describe('the polkit rule', () => {
  type Rule = (action: { id: string }, subject: { isInGroup(name: string): boolean }) => unknown;
  let rule: Rule = () => undefined;
  const polkit = { addRule: (given: Rule) => (rule = given), Result: { YES: 'yes' } };
  runInNewContext(text('polkit/50-devmgr.rules'), { polkit });
  const decide = (id: string, group: string) => rule({ id }, { isInGroup: name => name === group });

  it.each(['access_pcsc', 'access_card'])('allows %s to the group devmgr only', action => {
    expect(decide(`org.debian.pcsc-lite.${action}`, 'devmgr')).toBe('yes');
    expect(decide(`org.debian.pcsc-lite.${action}`, 'users')).toBeUndefined();
  });

  it('leaves every other action alone', () => {
    expect(decide('org.freedesktop.login1.reboot', 'devmgr')).toBeUndefined();
  });
});

it.each(['devmgr.service', 'devmgr@.service', 'devmgr-user.service'])(
  '%s writes no core file and has a bound of memory',
  name => {
    expect(text(`systemd/${name}`)).toMatch(/^LimitCORE=0$/m);
    expect(text(`systemd/${name}`)).toMatch(/^MemoryMax=\d+G$/m);
  },
);

describe('the unit of a node', () => {
  const unit = text('systemd/devmgr@.service');
  const set = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, words]) => words!.split(' '));

  it('sets only variables that the program reads', () => {
    const known = new Set(variables.map(({ name }) => name));
    expect(set.map(word => word.split('=')[0]!).filter(name => !known.has(name))).toEqual([]);
  });

  it('has a separate home, name and state for each instance', () => {
    expect(set).toContain('DEVMGR_HOME=/var/lib/devmgr-nodes/%i');
    expect(set).toContain('DEVMGR_NODE=%i');
    expect(unit).toMatch(/^StateDirectory=devmgr-nodes\/%i$/m);
  });

  it('gives a stop the time to drain, and requests 20 s after it', () => {
    const drain = Number(set.find(word => word.startsWith('DEVMGR_DRAIN='))!.split('=')[1]);
    expect(unit).toMatch(new RegExp(`^TimeoutStopSec=${drain + 20}$`, 'm'));
  });

  it('has the same restrictions as the unit without a database, and no devices', () => {
    const closed = (name: string) =>
      text(`systemd/${name}`)
        .split('\n')
        .filter(line =>
          /^(?:Protect|Private|Restrict|SystemCall|Capability|NoNew|Lock|Limit|RemoveIPC|UMask)/.test(line),
        );
    expect(closed('devmgr@.service')).toEqual(expect.arrayContaining(closed('devmgr.service')));
    expect(unit).toMatch(/^PrivateDevices=yes$/m);
    expect(unit).not.toContain('DeviceAllow');
  });
});

needs('systemd-analyze', 'systemd')('the systemd units', () => {
  it.each(['devmgr.service', 'devmgr@node-1.service', 'devmgr-user.service'])(
    '%s has no line that systemd does not understand',
    name => {
      const copy = join(mkdtempSync(join(tmpdir(), 'devmgr-unit-')), name);
      // The program itself need not be installed where this is checked.
      writeFileSync(copy, text(`systemd/${name.replace('@node-1', '@')}`).replace('/usr/bin/devmgr', process.execPath));
      const call = ['verify', '--man=no', '--recursive-errors=no', copy];
      const { status, stdout, stderr } = spawnSync('systemd-analyze', call, { encoding: 'utf8' });
      rmSync(dirname(copy), { recursive: true });
      expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
    },
  );
});
