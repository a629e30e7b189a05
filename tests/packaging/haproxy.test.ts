/** HAProxy accepts the files that are delivered for it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { findTool, needs } from '../support/needs.ts';

const packaged = join(import.meta.dirname, '../../packaging');
const text = (name: string) => readFileSync(join(packaged, 'haproxy', name), 'utf8');
const CERTIFICATE = '/etc/haproxy/devmgr.pem';

it('the drain of the unit is the time after which HAProxy marks down a daemon that hangs: less than 3 s', () => {
  const checks = /default-server check inter (\d+)ms fastinter (\d+)ms fall 2/.exec(text('registry.cfg'))!;
  const [inter, fastinter] = checks.slice(1).map(Number) as [number, number];
  const timeout = Number(/timeout check (\d+)ms/.exec(text('registry.cfg'))![1]);
  const seconds = (inter + timeout + fastinter + timeout) / 1000;
  expect(seconds).toBeLessThan(3);
  const unit = readFileSync(join(packaged, 'systemd/devmgr@.service'), 'utf8');
  expect(unit).toContain(`DEVMGR_DRAIN=${Math.ceil(seconds)}\n`);
});

needs(['haproxy', 'openssl'])('haproxy -c', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-haproxy-'));
  const { cert, key } = makeCertificate(folder, 'registry');
  writeFileSync(join(folder, 'devmgr.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The files as they are on a machine that has the certificate and knows the names of the others. */
  const onThisMachine = (config: string) =>
    config.replaceAll(CERTIFICATE, join(folder, 'devmgr.pem')).replace(/^( {2}server \S+ )\S+:/gm, '$1127.0.0.1:');

  function check(names: readonly string[], change = (config: string) => config): { ok: boolean; output: string } {
    const files = names.map(name => {
      const file = join(folder, name);
      writeFileSync(file, change(onThisMachine(text(name))));
      return ['-f', file];
    });
    const { status, stdout, stderr } = spawnSync(findTool('haproxy')!, ['-c', ...files.flat()], { encoding: 'utf8' });
    return { ok: status === 0, output: stdout + stderr };
  }

  it.each([[['registry.cfg']], [['registry.cfg', 'postgres.cfg']]])('accepts %s without a warning', names => {
    const { ok, output } = check(names);
    expect(output).not.toMatch(/\[(?:WARNING|ALERT)\]/);
    expect(ok, output).toBe(true);
  });

  it('refuses a line that it does not know', () => {
    expect(check(['registry.cfg'], config => config.replace('balance roundrobin', 'balance somehow')).ok).toBe(false);
  });
});
