import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanFileName, extensionOf } from '../../daemon/base/file-name.ts';

describe('the name of an uploaded file', () => {
  it.each([
    ['devmgr-1.0.0.apk', 'devmgr-1.0.0.apk'],
    ['/etc/passwd', 'passwd'],
    ['C:\\Users\\me\\setup.exe', 'setup.exe'],
    ['../../a.deb', 'a.deb'],
    ['..', ''],
    ['a/', ''],
    ['  a.apk \n', 'a.apk'],
    ['a\u0000\u001b[31mb.apk', 'a[31mb.apk'],
    ['\u202egnp.apk', 'gnp.apk'],
    ['a\u00ad\u061c\u3164\u{e0041}b.apk', 'ab.apk'],
    ['安装包 v1.apk', '安装包 v1.apk'],
    ['half \ud800.apk', 'half \ufffd.apk'],
  ])('%j is stored as %j', (given, stored) => {
    expect(cleanFileName(given)).toBe(stored);
  });

  it('loses the end of its stem if it is longer than 255 characters, and keeps its extension', () => {
    expect(cleanFileName(`${'x'.repeat(300)}.apk`)).toBe(`${'x'.repeat(251)}.apk`);
    expect(cleanFileName('😀'.repeat(300))).toBe('😀'.repeat(255));
    expect([...cleanFileName(`a.${'y'.repeat(300)}`)]).toHaveLength(255);
  });

  it('is never a path and never longer than 255 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), given => {
        const cleaned = cleanFileName(given);
        expect(cleaned).not.toMatch(/[/\\\u0000-\u001f\u007f]/);
        expect([...cleaned].length).toBeLessThanOrEqual(255);
        expect(['.', '..']).not.toContain(cleaned);
        expect(cleaned.isWellFormed()).toBe(true);
        expect(cleanFileName(cleaned)).toBe(cleaned);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a.APK', 'apk'],
    ['a.b.AppImage', 'appimage'],
    ['noext', ''],
    ['.apk', ''],
    ['a.', ''],
  ])('%j has the extension %j', (name, extension) => {
    expect(extensionOf(name)).toBe(extension);
  });
});
