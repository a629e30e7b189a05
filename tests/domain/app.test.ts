import { describe, expect, it } from 'vitest';
import type { AppRecord } from '../../daemon/files/app.ts';
import { identify, isPackageOf, latestOf, packageExtension, platformOf } from '../../daemon/files/app.ts';

let next = 1;
function app(version: string, more: Partial<AppRecord> = {}): AppRecord {
  return {
    number: next++,
    platform: 'LINUX',
    version,
    versionName: null,
    changelog: null,
    forceUpdate: false,
    minSupportVersion: null,
    fileName: 'a.deb',
    extension: 'deb',
    fileSize: 1,
    sha256: '0'.repeat(64),
    uploadedBy: 'admin',
    createdAt: 0,
    blob: '0'.repeat(32),
    ...more,
  };
}
const offered = (apps: readonly AppRecord[], current?: string) => {
  const { latest, ...rest } = latestOf(apps, current)!;
  return { latest: latest.version, ...rest };
};

describe('the latest version', () => {
  it('is null if nothing was uploaded', () => {
    expect(latestOf([], '1.0.0')).toBeNull();
  });

  it('is the highest version, not the last upload', () => {
    expect(offered([app('1.9.0'), app('1.10.0'), app('1.2.0')]).latest).toBe('1.10.0');
  });

  it('is the last upload among versions that compare as equal', () => {
    expect(offered([app('1.0.0+1'), app('1.0+2')]).latest).toBe('1.0+2');
  });

  it('is not announced as an update if the client sends no version', () => {
    const apps = [app('2.0.0', { forceUpdate: true, minSupportVersion: '2.0.0' })];
    expect(offered(apps)).toEqual({ latest: '2.0.0', updateAvailable: false, forceUpdate: false });
  });

  it.each([
    ['0.9.0', true],
    ['1.0.0-rc.1', true],
    ['1.0.0', false],
    ['1', false],
    ['1.0.1', false],
  ])('is an update for %s: %s', (current, updateAvailable) => {
    expect(offered([app('1.0.0')], current)).toEqual({ latest: '1.0.0', updateAvailable, forceUpdate: false });
  });

  it('is forced if any newer version is forced, not only the latest', () => {
    const apps = [app('1.1.0', { forceUpdate: true }), app('1.2.0')];
    expect(offered(apps, '1.0.0').forceUpdate).toBe(true);
    expect(offered(apps, '1.1.0').forceUpdate).toBe(false);
  });

  it('is forced below the minimum of the latest version; the minimums of older versions do not count', () => {
    const apps = [app('1.0.0', { minSupportVersion: '0.9.0' }), app('2.0.0', { minSupportVersion: '1.5.0' })];
    expect(offered(apps, '1.4.9').forceUpdate).toBe(true);
    expect(offered(apps, '1.5.0')).toEqual({ latest: '2.0.0', updateAvailable: true, forceUpdate: false });
  });
});

describe('platforms', () => {
  it('are accepted in upper and lower case', () => {
    expect([platformOf('macOS'), platformOf('ios'), platformOf('ANDROID')]).toEqual(['MACOS', 'IOS', 'ANDROID']);
  });

  it.each(['BEOS', 'constructor', '__proto__', 'toString'])('do not include %s', name => {
    expect(platformOf(name)).toMatchObject({ code: 1001, message: expect.stringContaining('platform must be one of') });
  });

  it.each([
    ['WINDOWS', ['exe', 'msi']],
    ['MACOS', ['dmg', 'pkg']],
    ['LINUX', ['deb', 'rpm', 'appimage']],
    ['ANDROID', ['apk', 'aab']],
    ['IOS', ['ipa']],
  ] as const)('%s takes exactly %j', (platform, extensions) => {
    const all = ['exe', 'msi', 'dmg', 'pkg', 'deb', 'rpm', 'appimage', 'apk', 'aab', 'ipa', 'zip', ''];
    expect(all.filter(extension => isPackageOf(platform, extension))).toEqual(extensions);
  });
});

describe('an upload', () => {
  const form = { platform: 'linux', version: '1.0.0' };

  it('is identified by platform, version and the extension of its file', () => {
    expect(identify(form, 'C:\\builds\\devmgr.DEB')).toEqual({
      platform: 'LINUX',
      version: '1.0.0',
      extension: 'deb',
      fileName: 'devmgr.DEB',
    });
  });

  it.each([
    ['an unknown platform', { ...form, platform: 'beos' }, 'devmgr.deb', 1001],
    ['an extension of another platform', form, 'devmgr.exe', 4002],
    ['a file without an extension', form, 'devmgr', 4002],
  ])('is refused for %s', (_, given, fileName, code) => {
    expect(identify(given, fileName)).toMatchObject({ code });
  });

  it('is found by its extension with or without the dot', () => {
    expect([packageExtension('LINUX', '.DEB'), packageExtension('LINUX', 'rpm')]).toEqual(['deb', 'rpm']);
    expect(packageExtension('LINUX', 'exe')).toMatchObject({ code: 1001 });
  });
});
