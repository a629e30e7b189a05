/** Server addresses, and what a daemon writes about itself. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Fault } from '../../src/cli/fault.ts';
import {
  couldBeLocal,
  isLoopback,
  readDaemonInfo,
  resolveSettings,
  serverAddress,
} from '../../src/cli/settings/settings.ts';
import { temporaryFolder } from '../support/temporary.ts';

const noFlags = {
  server: undefined,
  serverFrom: 'flag',
  hardware: undefined,
  profile: undefined,
  home: undefined,
  homeTyped: false,
  ca: undefined,
} as const;

describe('the address of a server', () => {
  test.each([
    ['registry.example.com', 'http://registry.example.com'],
    ['localhost:7470', 'http://localhost:7470'],
    ['HTTPS://Registry.Example.com:443/', 'https://registry.example.com'],
    ['http://127.0.0.1:7470//', 'http://127.0.0.1:7470'],
    ['https://example.com/devmgr/', 'https://example.com/devmgr'],
    ['https://example.com/devmgr?a=b#c', 'https://example.com/devmgr'],
    ['http://[::1]:7470', 'http://[::1]:7470'],
    ['registry:7470', 'http://registry:7470'],
    ['http://registry', 'http://registry'],
    ['localhost', 'http://localhost:7470'],
    ['localhost:80', 'http://localhost'],
    ['http://localhost', 'http://localhost'],
    ['https://keys.example.com/console/', 'https://keys.example.com'],
    ['https://keys.example.com/devmgr/console/devices?status=ACTIVE', 'https://keys.example.com/devmgr'],
  ])('%s is normalized to %s', (given, address) => {
    expect(serverAddress(given)).toBe(address);
  });

  const wrong = [
    '',
    'http://',
    'ftp://example.com',
    'file:///etc/passwd',
    'a b',
    'https://:7470',
    'http://example.com:x',
  ];
  test.each([...wrong, 'notaurl', 'notaurl/path'])('%j is not valid', given => {
    expect(() => serverAddress(given)).toThrow(`"${given}" is not a valid server address`);
  });

  test.each(['http://admin:secret@example.com', 'https://admin@example.com', 'http://:secret@example.com'])(
    'must not contain a name or a password, as %s does, and the error does not repeat it',
    given => {
      let refusal: unknown;
      try {
        serverAddress(given);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(Fault);
      expect(refusal).toMatchObject({ kind: 'usage', hint: expect.stringContaining('devmgr login') });
      expect((refusal as Fault).message).not.toMatch(/secret|admin/);
    },
  );

  test.each([
    ['http://localhost:7470', true],
    ['http://station.localhost', true],
    ['https://127.8.9.10', true],
    ['http://127.1', true],
    ['http://[::1]', true],
    ['http://localhost.example.com', false],
    ['http://127.0.0.1.example.com', false],
    ['http://0.0.0.0:7470', false],
    ['http://10.0.0.1', false],
    ['http://[::2]', false],
  ])('%s is a loopback address: %s', (address, loopback) => {
    expect(isLoopback(address)).toBe(loopback);
  });
});

describe('what a daemon writes about itself', () => {
  const infoOf = (text: string) => {
    const home = temporaryFolder();
    writeFileSync(join(home, 'daemon.json'), text);
    return { home, info: readDaemonInfo(home) };
  };
  const written = { pid: 7, url: 'http://127.0.0.1:40123/', version: '1', startedAt: '2026-03-01T08:30:00.000Z' };

  test('is read, and its address is that of the registry if no server or the same one is named', () => {
    const { home, info } = infoOf(JSON.stringify(written));
    expect(info).toEqual({ ...written, url: 'http://127.0.0.1:40123', socket: null });
    expect(infoOf(JSON.stringify({ ...written, socket: '/run/daemon.sock' })).info?.socket).toBe('/run/daemon.sock');
    const isLocal = (server: string | undefined) => couldBeLocal(resolveSettings({ ...noFlags, home, server }, {}));
    expect([undefined, 'http://127.0.0.1:40123', 'http://127.0.0.1:7470'].map(isLocal)).toEqual([true, true, true]);
    expect(['http://127.0.0.1:40124', 'https://127.0.0.1:7470', 'http://example.com'].map(isLocal)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test.each(['', '{', '[]', 'null', '{"pid":"7","url":"http://x"}', '{"pid":7}', '{"pid":7,"url":"no address"}'])(
    'is ignored if the file contains %j',
    text => {
      expect(infoOf(text).info).toBeNull();
    },
  );

  test('is null if there is no file', () => {
    expect(readDaemonInfo(temporaryFolder())).toBeNull();
  });
});
