/** Daemons with the roles registry and station. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSetting } from '../../daemon/home/given-settings.ts';
import type { DaemonSettings } from '../../daemon/home/settings.ts';
import { type RunningDaemon, startDaemon } from '../../daemon/start/main.ts';
import type { Env } from '../../src/contract/local.ts';
import { routes } from '../../src/contract/routes.ts';
import { startTestDaemon, testSettings } from '../support/daemon.ts';

const log = pino({ level: 'silent' });
let home: string;
let daemon: RunningDaemon | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-role-'));
});
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
  await rm(home, { recursive: true, force: true });
});

const start = async (settings: Partial<DaemonSettings>) => {
  daemon = await startDaemon({ ...testSettings(home), ...settings }, '0.0.0-test', log);
  return daemon;
};
const localToken = async () => (await readFile(join(home, 'local-token'), 'utf8')).trim();
const roleFrom = (role: string | null, env: Env) => readSetting('role', { role }, env);
const get = async (path: string, token?: string) => {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  type Data = any;
  const response = await fetch(daemon!.url + path, token ? { headers: { authorization: `Bearer ${token}` } } : {});
  return { status: response.status, body: (await response.json()) as { code: number; message: string; data: Data } };
};

describe('a station', () => {
  it('shows its keys to programs of the same user, and has no registry', async () => {
    await start({ role: 'station', simulateKeys: 2 });
    const { body } = await get('/api/hardware/keys', await localToken());
    expect(body.data.list).toHaveLength(2);
    expect(body.data.list[0]).toMatchObject({ simulated: true, device: null });
    const { body: health } = await get('/api/health');
    expect(health.data).toMatchObject({ status: 'ok', ready: true, store: { detail: 'a station has no registry' } });
    expect(await readdir(home)).not.toContain('devmgr.db');
    expect(await readdir(home)).not.toContain('blobs');
  });

  it('answers 404 with the reason to every operation of a registry', async () => {
    await start({ role: 'station' });
    const own = new Set([
      'listKeys',
      'proveKey',
      'identifyKey',
      'issueKey',
      'signReceipt',
      'streamNotifications',
      'getHealth',
      'getSwaggerPage',
      'getOpenapiJson',
      'getOpenapiYaml',
      'getPostmanCollection',
      'getMetrics',
    ]);
    const others = Object.entries(routes).filter(([name]) => !own.has(name));
    expect(others.length).toBeGreaterThan(30);
    for (const [name, { method, path }] of others) {
      const response = await fetch(daemon!.url + path.replaceAll(/\{\w+\}/g, 'X-1'), { method });
      expect([name, response.status, ((await response.json()) as { message: string }).message]).toEqual([
        name,
        404,
        'this daemon is a station without a registry; name the registry with --server',
      ]);
    }
  });

  it('refuses the keys to callers without a token of its home', async () => {
    await start({ role: 'station' });
    for (const token of ['x', 'devmgr_x']) expect((await get('/api/hardware/keys', token)).body.code).toBe(1004);
  });

  it('starts beside a registry in the same home and leaves it as it is', async () => {
    const registry = await startTestDaemon();
    await registry.stopKeepingHome();
    const before = await readFile(join(registry.home, 'devmgr.db'));
    const station = await startDaemon({ ...testSettings(registry.home), role: 'station' }, '0.0.0-test', log);
    await station.stop();
    expect((await readFile(join(registry.home, 'devmgr.db'))).equals(before)).toBe(true);
    await registry.startAgain();
    await registry.stop();
  });
});

describe('a registry', () => {
  it('looks for no keys', async () => {
    await start({ role: 'registry', hardware: true });
    expect((await get('/api/hardware/keys', await localToken())).body.data).toEqual({ list: [], drivers: [] });
    expect((await get('/api/health')).body.data).toMatchObject({ ready: true, drivers: [] });
  });
});

describe('settings of another role', () => {
  it.each([
    [{ role: 'registry', simulateKeys: 1 }, /does not look for keys/],
    [{ role: 'registry', ukeyMatch: ['1234'] }, /does not look for keys/],
    [{ role: 'station', forward: {} }, /has no registry/],
    [{ role: 'station', files: {} }, /has no registry/],
  ] as const)('are refused: %j', async (settings, message) => {
    await expect(start(settings as unknown as Partial<DaemonSettings>)).rejects.toThrow(message);
    await expect(start(settings as unknown as Partial<DaemonSettings>)).rejects.toMatchObject({ exitCode: 2 });
  });

  it('--role and the environment name one of three', () => {
    expect(roleFrom(null, {})).toBe('all');
    expect(roleFrom(null, { DEVMGR_ROLE: 'station' })).toBe('station');
    expect(roleFrom('registry', { DEVMGR_ROLE: 'station' })).toBe('registry');
    expect(() => roleFrom('both', {})).toThrow('--role is malformed');
    expect(() => roleFrom(null, { DEVMGR_ROLE: 'x' })).toThrow('DEVMGR_ROLE is malformed');
  });
});
