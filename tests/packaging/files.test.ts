import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { UDEV_RULES } from '../../drivers/hid/errors.ts';
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

it.each(['devmgr.service', 'devmgr-user.service'])('%s writes no core file and has a bound of memory', name => {
  expect(text(`systemd/${name}`)).toMatch(/^LimitCORE=0$/m);
  expect(text(`systemd/${name}`)).toMatch(/^MemoryMax=\d+G$/m);
});

needs('systemd-analyze', 'systemd')('the systemd units', () => {
  it.each(['devmgr.service', 'devmgr-user.service'])('%s has no line that systemd does not understand', name => {
    const copy = join(mkdtempSync(join(tmpdir(), 'devmgr-unit-')), name);
    // The program itself need not be installed where this is checked.
    writeFileSync(copy, text(`systemd/${name}`).replace('/usr/bin/devmgr', process.execPath));
    const call = ['verify', '--man=no', '--recursive-errors=no', copy];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', call, { encoding: 'utf8' });
    rmSync(dirname(copy), { recursive: true });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});
