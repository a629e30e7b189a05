import { describe, expect, it } from 'vitest';
import { importsOfAll, relatedTests, withinBudget } from '../../scripts/lib/related-tests.ts';

const sources: Readonly<Record<string, string>> = {
  'daemon/devices/records.ts': '',
  'daemon/devices/lock.ts': "import { decide } from './records.ts';",
  'daemon/accounts/names.ts': "import type { Device } from '../devices/records.ts';",
  'src/cli/commands/notifications/watch.ts': '',
  'tests/api/lock.test.ts': "const { lock } = await import('../../daemon/devices/lock.ts');",
  'tests/api/users.test.ts': "import { names } from '../../daemon/accounts/names.ts';",
  'tests/cli/watch-exec.test.ts': '',
  'tests/cli/watch-lines.test.ts': "import { watch } from '../../src/cli/commands/notifications/watch.ts';",
  'tests/docs/links.test.ts': '',
  'tests/domain/device.test.ts': "import { decide } from '../../daemon/devices/records.ts';",
  'tests/domain/history.test.ts': "import { decide } from '../../daemon/devices/records.ts';",
};
const imports = importsOfAll(Object.keys(sources), file => sources[file]!);

describe('the tests of a change', () => {
  it('are those that load a changed file, directly or through others; the closest come first', () => {
    expect(relatedTests(['daemon/devices/records.ts'], imports)).toEqual([
      'tests/domain/device.test.ts',
      'tests/domain/history.test.ts',
      'tests/api/lock.test.ts',
    ]);
  });

  it('include those that share a word with a changed file, because they may run the built program', () => {
    expect(relatedTests(['src/cli/commands/notifications/watch.ts'], imports)).toEqual([
      'tests/cli/watch-lines.test.ts',
      'tests/cli/watch-exec.test.ts',
    ]);
  });

  it('include those in the folder for pages, packages and the console, whose files no test imports', () => {
    expect(relatedTests(['docs/devices.md'], imports)).toEqual([
      'tests/domain/device.test.ts',
      'tests/docs/links.test.ts',
    ]);
  });

  it('begin with the changed tests themselves', () => {
    expect(relatedTests(['tests/domain/history.test.ts', 'daemon/devices/records.ts'], imports)[0]).toBe(
      'tests/domain/history.test.ts',
    );
  });

  it('are none if nothing loads what changed', () => {
    expect(relatedTests(['LICENSE'], imports)).toEqual([]);
  });
});

describe('a budget', () => {
  const lasts = (test: string) => Number(test) * 1000;

  it('takes tests until it is used up', () => {
    expect(withinBudget(['10', '20', '5', '30', '1'], lasts, 35_000)).toEqual(['10', '20', '5']);
  });

  it('takes the first test, even if that one takes longer', () => {
    expect(withinBudget(['90', '1'], lasts, 35_000)).toEqual(['90']);
  });

  it('takes none of none', () => {
    expect(withinBudget([], lasts, 35_000)).toEqual([]);
  });
});
