import { describe, expect, it } from 'vitest';
import { isPackageOf, newest, platformOf } from '../../daemon/domain/app-versions.ts';
import type { AppRecord } from '../../daemon/store/store.ts';

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
const told = (apps: readonly AppRecord[], current?: string) => {
  const { latest, ...rest } = newest(apps, current)!;
  return { latest: latest.version, ...rest };
};

describe('the newest version', () => {
  it('is none where nothing was uploaded', () => {
    expect(newest([], '1.0.0')).toBeNull();
  });

  it('is the highest, not the one uploaded last', () => {
    expect(told([app('1.9.0'), app('1.10.0'), app('1.2.0')]).latest).toBe('1.10.0');
  });

  it('is the one uploaded last among versions of the same age', () => {
    expect(told([app('1.0.0+1'), app('1.0+2')]).latest).toBe('1.0+2');
  });

  it('asks for nothing without a current version, even where it is forced', () => {
    const apps = [app('2.0.0', { forceUpdate: true, minSupportVersion: '2.0.0' })];
    expect(told(apps)).toEqual({ latest: '2.0.0', updateAvailable: false, forceUpdate: false });
  });

  it.each([
    ['0.9.0', true],
    ['1.0.0-rc.1', true],
    ['1.0.0', false],
    ['1', false],
    ['1.0.1', false],
  ])('is an update for %s: %s', (current, updateAvailable) => {
    expect(told([app('1.0.0')], current)).toEqual({ latest: '1.0.0', updateAvailable, forceUpdate: false });
  });

  it('is forced where any version in between is forced, not only the last', () => {
    const apps = [app('1.1.0', { forceUpdate: true }), app('1.2.0')];
    expect(told(apps, '1.0.0').forceUpdate).toBe(true);
    expect(told(apps, '1.1.0').forceUpdate).toBe(false);
  });

  it('is forced below what the latest supports; what older ones supported has no weight', () => {
    const apps = [app('1.0.0', { minSupportVersion: '0.9.0' }), app('2.0.0', { minSupportVersion: '1.5.0' })];
    expect(told(apps, '1.4.9').forceUpdate).toBe(true);
    expect(told(apps, '1.5.0')).toEqual({ latest: '2.0.0', updateAvailable: true, forceUpdate: false });
  });
});

describe('platforms', () => {
  it('are named in any case', () => {
    expect([platformOf('macOS'), platformOf('ios'), platformOf('ANDROID')]).toEqual(['MACOS', 'IOS', 'ANDROID']);
  });

  it.each(['BEOS', 'constructor', '__proto__', 'toString'])('are not %s', name => {
    expect(() => platformOf(name)).toThrow(/platform must be one of/);
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
