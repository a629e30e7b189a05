/** FreeRADIUS and PAM in docs/doors.md, with Debian's programs: an allowed key gets in, others do not. */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { deviceIn } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { findTool, needs } from '../support/needs.ts';
import { block, doorProgram, page, ready, registry } from './doors.ts';

/** The exit code of a program and what it printed. */
const ended = (program: string, args: string[], input = '', env = process.env) =>
  new Promise<{ code: number | null; stdout: string }>(resolve => {
    const child = execFile(program, args, { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout: stdout + stderr }),
    );
    child.stdin!.end(input);
  });

const startsRadius = ['freeradius', 'radclient'];
needs(startsRadius, 'freeradius freeradius-rest freeradius-utils')('FreeRADIUS', () => {
  it('accepts the user of a key that is allowed, and no other', async () => {
    const { daemon, at } = await registry();
    const port = await freePort();
    const [active, locked] = [await deviceIn('ACTIVE', daemon), await deviceIn('LOCKED', daemon)];
    const serials = { active: active.serialNumber, locked: locked.serialNumber, unknown: 'no "such\\ key', none: null };
    const users = Object.entries(serials).map(([name, serial]) =>
      serial === null
        ? `${name} Cleartext-Password := "pw"`
        : `${name} Cleartext-Password := "pw", Tmp-String-0 := ${JSON.stringify(serial)}`,
    );
    at('users', `${users.join('\n')}\n`);
    const [rest, site] = page.slice(page.indexOf('### FreeRADIUS')).match(/(?<=```\n)[a-z][\s\S]*?(?=```)/g)!;
    const token = readFileSync(at('token'), 'utf8').trim();
    at(
      'radiusd.conf',
      `name = door
run_dir = ${at('')}
libdir = /usr/lib/freeradius
pidfile = ${at('pid')}
log {
  destination = stdout
}
client localhost {
  ipaddr = 127.0.0.1
  secret = testing
}
modules {
  files {
    usersfile = ${at('users')}
  }
  pap {
  }
  always reject {
    rcode = reject
  }
  always noop {
    rcode = noop
  }
${rest!.replace('https://registry.example.com', daemon.url)}
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = ${port}
  }
  authorize {
    files
    pap
  }
  authenticate {
    pap
  }
  post-auth {
${site!.replace('TOKEN', token)}
  }
}
`,
    );
    const radius = spawn(findTool('freeradius')!, ['-X', '-d', at('')], { stdio: ['ignore', 'pipe', 'pipe'] });
    await ready(radius, /Ready to process requests/);
    const login = async (name: string) => {
      const text = `User-Name = "${name}", User-Password = "pw"`;
      const { stdout } = await ended('radclient', ['-x', `127.0.0.1:${port}`, 'auth', 'testing'], text);
      return stdout.match(/Received (Access-\w+)/)?.[1] ?? stdout;
    };
    expect(await login('active')).toBe('Access-Accept');
    for (const name of ['locked', 'unknown', 'none'])
      expect([name, await login(name)]).toEqual([name, 'Access-Reject']);
    await daemon.stop();
    expect(await login('active')).toBe('Access-Reject');
  });
});

/** A program that authenticates a user by a service of a folder, through Debian's libpam. */
const pamClient = `
import ctypes, sys
pam = ctypes.CDLL('libpam.so.0')
handle = ctypes.c_void_p()
talk = (ctypes.c_void_p * 2)()
user, folder = sys.argv[2].encode(), sys.argv[1].encode()
if pam.pam_start_confdir(b'door', user, ctypes.byref(talk), folder, ctypes.byref(handle)) != 0: sys.exit(9)
sys.exit(0 if pam.pam_authenticate(handle, 0) == 0 else 1)
`;

/** Debian's: a program of the same name that starts another one takes a second. */
const python = '/usr/bin/python3';

needs(['python3', 'curl', 'jq'])('PAM', () => {
  it('authenticates the user of a key that is allowed, and no other', async () => {
    const { daemon, at } = await registry();
    const [active, locked] = [await deviceIn('ACTIVE', daemon), await deviceIn('LOCKED', daemon)];
    at('keys', `active ${active.serialNumber}\nlocked ${locked.serialNumber}\nunknown no-such-key\n`);
    const executable = (file: string, text: string) => chmodSync(at(file, text), 0o755);
    executable(
      'devmgr-door',
      doorProgram.replace('https://registry.example.com', daemon.url).replace('/etc/devmgr-door.token', at('token')),
    );
    const ofUser = block('PAM', 'bash').replace('/usr/local/bin', at(''));
    executable('devmgr-door-of-user', ofUser.replace('/etc/devmgr-door.keys', at('keys')));
    const lines = block('PAM', '').replace('pam_u2f.so cue', 'pam_permit.so').replace('/usr/local/bin', at(''));
    at('door', lines);
    at('client.py', pamClient);
    const login = async (name: string) => (await ended(python, [at('client.py'), at(''), name])).code;
    expect(await login('active')).toBe(0);
    for (const name of ['locked', 'unknown', 'none']) expect([name, await login(name)]).toEqual([name, 1]);
    await daemon.stop();
    expect(await login('active')).toBe(1);
  });
});
