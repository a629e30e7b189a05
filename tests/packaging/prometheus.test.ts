/** The rules for Prometheus in packaging: accepted by promtool, and about metrics that a daemon has. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { findTool, needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const rules = join(import.meta.dirname, '../../packaging/prometheus/devmgr.rules.yml');

it('the rules name metrics of the daemon only', async () => {
  const daemon = await startTestDaemon();
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  await daemon.stop();
  const named = [...new Set(readFileSync(rules, 'utf8').match(/\bdevmgr_\w+/g))];
  expect(named.length).toBeGreaterThan(6);
  for (const name of named) expect(metrics, name).toMatch(new RegExp(`^${name}\\{.*\\} 0$`, 'm'));
});

needs('promtool', 'prometheus')('promtool', () => {
  it('test rules: each alert fires for its figure', () => {
    const written = readFileSync(join(import.meta.dirname, 'devmgr.rules.test.yml'), 'utf8').replace('RULES', rules);
    const file = join(temporaryFolder(), 'rules.test.yml');
    writeFileSync(file, written);
    const { status, stdout, stderr } = spawnSync(findTool('promtool')!, ['test', 'rules', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
