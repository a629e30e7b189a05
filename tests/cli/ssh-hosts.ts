/** Keys that are issued for SSH on a CTAP authenticator of the tests, and hosts with Debian's sshd that ask for them. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import type { IssuableOptions } from '../support/issuable-authenticator.ts';
import { findTool } from '../support/needs.ts';
import { sshAgent } from '../support/ssh-agent.ts';
import { issuingBy } from './issuing.ts';
import { cheapProgram, type Daemon, devmgr, temporaryFolder } from './program.ts';

const script = join(import.meta.dirname, '../../packaging/ssh/devmgr-ssh-keys');
export const run = promisify(execFile);
const user = userInfo().username;
let made = 0;

/** With this daemon, which has the providers of `addProviders`. */
export function sshBy(daemon: () => Daemon) {
  const { plugged } = issuingBy(daemon);

  async function addProviders() {
    await daemon().run(['providers', 'add', 'ssh', 'ssh']);
    await daemon().run(['providers', 'add', 'ssh', 'ssh-pin', '--verification', 'pin']);
  }

  /** An SSH key that is issued for a person, with its files. */
  async function issuedKey(userName: string, provider = 'ssh', options: Partial<IssuableOptions> = {}) {
    const { personId } = await daemon().call('POST', '/api/people', { userName });
    const key = await plugged(`SSH-${++made}`, options, userName);
    const file = join(temporaryFolder(), 'id_sk');
    const issued = await key.issue(provider, '123456', '--ssh-file', file);
    expect(issued).toMatchObject({ code: 0 });
    const [{ ssh }] = await daemon().call('GET', `/api/devices/${key.deviceId}/credentials`);
    return { ...key, personId, file, ssh };
  }

  /** A home whose token may read SSH keys and nothing else. */
  async function hostHome() {
    const home = temporaryFolder();
    const token = join(home, 'host.token');
    const name = `host-${++made}`;
    const added = await daemon().run(['tokens', 'add', name, '--role', 'VIEWER', '--may', 'ssh']);
    writeFileSync(token, added.stdout, { mode: 0o600 });
    expect(await devmgr(['login', '--token-file', token, '--server', daemon().url], { home })).toMatchObject({
      code: 0,
    });
    return home;
  }

  /** A host that asks for keys configured by `config`, and a login with the key. */
  async function host(name: string, config: string, options: Partial<IssuableOptions> = {}) {
    const key = await issuedKey(name, 'ssh', options);
    const home = await hostHome();
    const folder = temporaryFolder();
    const at = (file: string) => join(folder, file);
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('host')]);
    writeFileSync(at('devmgr'), `#!/bin/sh\nexec '${process.execPath}' '${cheapProgram()}' "$@"\n`);
    chmodSync(at('devmgr'), 0o755);
    const configure = (text: string) =>
      writeFileSync(at('conf'), `DEVMGR_HOME=${home}\nDEVMGR=${at('devmgr')}\n${text}\n`);
    configure(config);
    const port = await freePort();
    const settings = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      'AuthorizedKeysFile none',
      // The account of the host is that of the person who runs the tests; the person has another name.
      `AuthorizedKeysCommand /bin/sh ${script} -c ${at('conf')} ${name} %f`,
      `AuthorizedKeysCommandUser ${user}`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PidFile none',
      'StrictModes no',
      // No shell is started for it: its files may take a second.
      'Subsystem sftp internal-sftp',
      // Hundreds of logins may be under way at once.
      'MaxStartups 1000',
      'LoginGraceTime 0',
    ];
    writeFileSync(at('sshd_config'), `${settings.join('\n')}\n`);
    // Debian's unit makes the folder for the separation of privileges.
    if (process.getuid?.() === 0 && !existsSync('/run/sshd')) mkdirSync('/run/sshd', { mode: 0o755 });
    const sshd = spawn(findTool('sshd')!, ['-D', '-e', '-f', at('sshd_config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void sshd.kill());
    let log = '';
    await new Promise<void>((resolve, reject) => {
      sshd.on('exit', code => reject(new Error(`sshd ended with ${code}: ${log}`)));
      sshd.stderr.on('data', part => {
        log += part;
        if (log.includes('listening')) resolve();
      });
    });
    const agent = await sshAgent(key.authenticator, key.ssh.publicKey, Buffer.from(key.ssh.handle, 'base64url'));
    const settingsOfSsh = {
      IdentityAgent: agent,
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
      BatchMode: 'yes',
      LogLevel: 'ERROR',
      // The default takes twice the processor time of a whole login.
      KexAlgorithms: 'curve25519-sha256',
    };
    const flags = Object.entries(settingsOfSsh).flatMap(([option, value]) => ['-o', `${option}=${value}`]);
    /** Whether the key opens the host. */
    const login = async () => {
      const running = run('ssh', ['-F', 'none', ...flags, '-p', `${port}`, '-s', `${user}@127.0.0.1`, 'sftp']);
      running.child.stdin!.end();
      const { code = 0, stderr } = await running.catch(error => error);
      if (code !== 0 && !/Permission denied/.test(stderr)) throw new Error(`${stderr}${log}`);
      return code === 0;
    };
    const answer = () => spawnSync('/bin/sh', [script, '-c', at('conf'), name], { encoding: 'utf8' });
    /** What sshd would get for the key, while other questions are under way. */
    const ask = async () => (await run('/bin/sh', [script, '-c', at('conf'), name])).stdout;
    return { ...key, home, login, configure, answer, ask, log: () => log };
  }

  return { addProviders, issuedKey, hostHome, host };
}
