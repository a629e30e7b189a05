/** What differs between systems is in few files, so that a port has one list to read. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { platformFacts } from '../../daemon/base/platform.ts';

const root = join(import.meta.dirname, '../..');

/** Files outside the daemon that ask for the platform. A new one needs a line here, and a look at docs/install.md. */
const asking = [
  'bin/devmgr.ts',
  'drivers/exit.ts',
  'drivers/hid/{errors,native}.ts',
  'drivers/pcsc/{advice,library}.ts',
  'drivers/pcsc/ffi/{index,worker}.ts',
  'src/cli/commands/daemon/{install,service/systemd}.ts',
  'src/cli/commands/doctor/{checks,fix}.ts',
  'src/cli/commands/enrollment/roster/keyboard.ts',
  'src/cli/commands/enrollment/spool/spool-file.ts',
  'src/cli/commands/notifications/program.ts',
  'src/cli/commands/session/open/browser.ts',
  'src/cli/commands/sign-in/login.ts',
  'src/cli/framework/{compiled-code,version}.ts',
  'src/cli/settings/{keychain,processes,settings}.ts',
  'src/cli/terminal/{io,prompt-terminal,style}.ts',
];

const filesWith = (patterns: readonly string[]) =>
  globSync([...patterns], { cwd: root })
    .filter(file => readFileSync(join(root, file), 'utf8').includes('process.platform'))
    .sort();

describe('the platform', () => {
  it('is asked for by one file of the daemon', () => {
    expect(filesWith(['daemon/**/*.ts'])).toEqual(['daemon/base/platform.ts']);
  });

  it('is asked for by few files of the command line and the drivers', () => {
    expect(filesWith(['{bin,src,drivers}/**/*.ts'])).toEqual(globSync(asking, { cwd: root }).sort());
  });

  it('decides about modes, sockets and flushing', () => {
    const posix = { fileModes: true, unixSockets: true, flushFlag: 'r', flushedFolders: true };
    expect(platformFacts('linux')).toEqual({ ...posix, socketPathBytes: 107 });
    // 104 bytes with the zero at the end.
    expect(platformFacts('darwin')).toEqual({ ...posix, socketPathBytes: 103 });
    const windows = { fileModes: false, unixSockets: false, flushFlag: 'r+', flushedFolders: false };
    expect(platformFacts('win32')).toMatchObject(windows);
  });
});
