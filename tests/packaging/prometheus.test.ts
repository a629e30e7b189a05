/** The rules for Prometheus and the dashboard in packaging: accepted by promtool, and about metrics that a daemon has. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forwardTarget } from '../../daemon/home/forward-target.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { findTool, needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = join(import.meta.dirname, '../../packaging/prometheus');
const rules = join(folder, 'devmgr.rules.yml');
const dashboard = join(folder, 'devmgr.dashboard.json');
const namesIn = (text: string) => [...new Set(text.match(/\bdevmgr_\w+/g))];

it('the rules and the dashboard name metrics of the daemon only', async () => {
  const daemon = await startTestDaemon({ forward: forwardTarget('syslog+tcp://127.0.0.1:1', {})! });
  const set = async (method: string, path: string, body: object) =>
    expect((await daemon.call(method, path, body)).code).toBe(200);
  // Metrics that a registry without these does not have.
  await set('POST', '/api/providers', { name: 'ssh', type: 'ssh' });
  await set('POST', '/api/webhooks', { url: 'https://hooks.invalid/', types: ['DEVICE_LOCKED'] });
  await set('PUT', '/api/directory', {
    url: 'ldaps://ldap.invalid',
    base: 'dc=example',
    bindDn: 'cn=x',
    bindPassword: 'y',
  });
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  await daemon.stop();
  const named = namesIn(readFileSync(rules, 'utf8'));
  expect(named.length).toBeGreaterThan(6);
  for (const name of named) expect(metrics, name).toMatch(new RegExp(`^${name}\\{.*\\} 0$`, 'm'));
  const { panels } = JSON.parse(readFileSync(dashboard, 'utf8')) as { panels: { targets?: { expr: string }[] }[] };
  const shown = namesIn(panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n'));
  expect(shown).toEqual(expect.arrayContaining(named));
  for (const name of shown) expect(metrics, name).toMatch(new RegExp(`^${name}\\{`, 'm'));
});

needs('promtool', 'prometheus')('promtool', () => {
  it('reads each query of the dashboard', () => {
    const { panels } = JSON.parse(readFileSync(dashboard, 'utf8')) as { panels: { targets?: { expr: string }[] }[] };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    // The syntax of rules is JSON too.
    const group = { name: 'queries', rules: queries.map((expr, at) => ({ record: `query:${at}`, expr })) };
    const file = join(temporaryFolder(), 'queries.yml');
    writeFileSync(file, JSON.stringify({ groups: [group] }));
    const { status, stdout, stderr } = spawnSync(findTool('promtool')!, ['check', 'rules', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining(`${queries.length} rules found`)]);
  });

  it('test rules: each alert fires for its figure', () => {
    const written = readFileSync(join(import.meta.dirname, 'devmgr.rules.test.yml'), 'utf8').replace('RULES', rules);
    const file = join(temporaryFolder(), 'rules.test.yml');
    writeFileSync(file, written);
    const { status, stdout, stderr } = spawnSync(findTool('promtool')!, ['test', 'rules', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
