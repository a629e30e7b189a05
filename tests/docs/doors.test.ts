/** The program for scripts in docs/doors.md: it lets in a key that is allowed, and no other. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { deviceIn } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { serviceToken } from '../support/service-token.ts';
import { doorProgram } from './doors.ts';

needs(['curl', 'jq'], 'curl jq')('the program of docs/doors.md', () => {
  it('ends with 0 for an allowed key, with 1 for others, and with 2 without an answer', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'devmgr-door-'));
    const daemon = await startTestDaemon();
    onTestFinished(async () => {
      await daemon.stop();
      await rm(folder, { recursive: true });
    });
    const { token, tokenId } = await serviceToken(daemon, { role: 'VIEWER', may: ['decide'] });
    const [file, tokenFile] = [join(folder, 'devmgr-door'), join(folder, 'token')];
    await writeFile(file, doorProgram);
    await writeFile(tokenFile, `${token}\n`);
    const door = (name: string, value: string, server = daemon.url) =>
      new Promise<unknown[]>(resolve => {
        const env = { ...process.env, DOOR_SERVER: server, DOOR_TOKEN: tokenFile };
        const child = execFile('bash', [file, name, value], { env }, (_error, stdout, stderr) =>
          resolve([child.exitCode, stdout, stderr]),
        );
      });
    const [active, locked] = [await deviceIn('ACTIVE', daemon), await deviceIn('LOCKED', daemon)];
    expect(await door('serialNumber', active.serialNumber)).toEqual([0, '', '']);
    expect(await door('serialNumber', locked.serialNumber)).toEqual([1, '', '']);
    expect(await door('credentialId', 'AAAA')).toEqual([1, '', '']);
    // Text of a key does not become another question.
    expect(await door('serialNumber', `x"},{"serialNumber":"${active.serialNumber}`)).toEqual([1, '', '']);
    expect(await door('serialNumber', active.serialNumber, 'http://127.0.0.1:1')).toEqual([2, '', '']);
    await daemon.call('POST', `/api/tokens/${tokenId}/revoke`);
    expect(await door('serialNumber', active.serialNumber)).toEqual([2, '', '']);
  });
});
