/** The day at the line in docs/provisioning-line.md, with the built program and simulated keys that are plugged in and unplugged. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { lasting } from '../../scripts/docs/recordings.ts';
import { devmgr } from '../cli/program.ts';
import { atTerminal } from '../cli/screen.ts';
import { day } from '../support/clock.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { type Hand, played, rewritten, scenesOf, textOf } from './rehearsal.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({
  createDrivers: (settings: { readonly role: string }) => (settings.role === 'registry' ? [] : [driver]),
}));

/** The address of the registry, as the page has it. */
const shownUrl = 'https://registry.example.com';
/** Shown in place of the home of the run. */
const shownHome = '/home/ada/.local/share/devmgr';
const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/provisioning-line.md');
const scenes = scenesOf(readFileSync(page, 'utf8'));

it('the page has a session', () => expect(scenes.length).toBeGreaterThan(5));

needs('script', 'bsdutils')('a day at the line', () => {
  let daemon: TestDaemon;
  let station: TestDaemon;
  let folder: string;
  let env: Record<string, string>;
  let url: string;
  const allShown: string[] = [];
  const keyIds = new Map<number, string>();
  /** Waits until so many programs follow the keys. A hand is slower than the start of a program; a test is not. */
  const streams = (count: number) =>
    vi.waitFor(async () => {
      const headers = { authorization: `Bearer ${station.adminToken}` };
      const metrics = await (await fetch(`${station.url}/metrics`, { headers })).text();
      expect(metrics).toMatch(new RegExp(`^devmgr_streams\\S* ${count}$`, 'm'));
    }, 20_000);
  const hand: Hand = {
    async plugIn(number) {
      await streams(1);
      keyIds.set(number, (await driver.attach(number)).keyId);
    },
    unplug: number => driver.detach(keyIds.get(number)),
    registry: is =>
      is === 'away'
        ? daemon.stopKeepingHome()
        : daemon.startAgain({ role: 'registry', port: Number(new URL(url).port) }),
  };

  beforeAll(async () => {
    daemon = await registryWithUnusedKeys();
    ({ url } = daemon);
    const token = await daemon.login('admin');
    const body = { name: 'line-3', role: 'DEALER', expiresInDays: 90 };
    const { data } = await daemon.call('POST', '/api/tokens', body, { token });
    folder = mkdtempSync(join(tmpdir(), 'devmgr-rehearsal-'));
    for (const name of ['programs', 'work']) mkdirSync(join(folder, name));
    const start = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/devmgr.cjs')}' "$@"\n`;
    writeFileSync(join(folder, 'programs/devmgr'), start, { mode: 0o755 });
    writeFileSync(join(folder, 'work/people.csv'), people);
    writeFileSync(join(folder, 'work/name.zpl'), template);
    const path = `${join(folder, 'programs')}:${dirname(process.execPath)}:${process.env.PATH}`;
    env = { PATH: path, DEVMGR_SERVER: url, DEVMGR_TOKEN: data.token, NO_COLOR: '1' };
    // The hardware service of the station is not the registry: keys are seen while the registry is away.
    station = await startTestDaemon({ hardware: true });
    const login = ['login', 'admin', '--password-stdin', '--server', station.url];
    for (const args of [login, ['config', 'set', 'hardware', station.url]])
      expect(await devmgr(args, { home: folder, input: adminPassword })).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await Promise.all([daemon?.stop(), station?.stop()]);
    rmSync(folder, { recursive: true, force: true });
    // `DEVMGR_REHEARSE=1 vitest run tests/docs/rehearsals.test.ts` writes the page after the output has changed.
    if (process.env.DEVMGR_REHEARSE === '1' && allShown.length === scenes.length)
      writeFileSync(page, rewritten(readFileSync(page, 'utf8'), allShown));
  });

  it.each(scenes)('$command', async scene => {
    const command = ['bash', '-c', `cd '${join(folder, 'work')}' && ${scene.command}`];
    const screen = atTerminal(command, { home: folder, columns: 110, env });
    const shown = (await played(scene, screen, hand)).replaceAll(url, shownUrl).replaceAll(folder, shownHome);
    allShown.push(shown);
    await streams(0);
    expect(lasting(shown)).toBe(textOf(scene));
  });
});

/** A registry in which two keys have not been used for 100 days. */
async function registryWithUnusedKeys(): Promise<TestDaemon> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 100 * day });
  try {
    const daemon = await startTestDaemon({ role: 'registry' });
    for (const [number, userId] of ['mona', 'nick'].entries()) {
      const device = { deviceType: 'UKEY', serialNumber: `UK-194${number}`, manufacturer: 'Acme', model: 'K1' };
      const { deviceId, activationCode } = (await daemon.call('POST', '/api/devices/register', device)).data;
      await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
    }
    return daemon;
  } finally {
    vi.useRealTimers();
  }
}

const people = `userId,name,type
alice,Alice Meier,UKEY
bob,Bob Ott,
carol,Carol Young,UKEY
`;
const template = `^XA
^FO20,20^BQN,2,4^FDQA,{deviceId}^FS
^FO160,20^A0N,28^FD{userId}^FS
^FO160,60^A0N,24^FD{serialNumber}^FS
^XZ
`;
