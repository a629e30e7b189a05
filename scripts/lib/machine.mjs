// Packages of the machine that the tests need beside those of npm. Under CI, as root, they are installed; elsewhere they are named.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, say } from './project.mjs';

/** Debian's package, what shows that it is there (a program, a library or a file), and the checks that want it. */
export const wanted = [
  { debian: 'pcscd', program: 'pcscd', checks: 'SIM cards through the real PC/SC service' },
  {
    debian: 'vsmartcard-vpcd',
    file: '/usr/lib/pcsc/drivers/serial/libifdvpcd.so',
    checks: 'virtual cards in that service',
  },
  { debian: 'umockdev', program: 'umockdev-run', checks: 'USB keys through the real udev library' },
  { debian: 'libpcsclite1', library: 'libpcsclite.so.1', checks: 'everything with SIM cards' },
  { debian: 'libusb-1.0-0', library: 'libusb-1.0.so.0', checks: 'everything with USB keys' },
  { debian: 'libudev1', library: 'libudev.so.1', checks: 'everything with USB keys' },
  { debian: 'chromium', program: 'chromium', checks: 'Swagger UI in a browser' },
  { debian: 'python3', program: 'python3', checks: 'prompts and progress on a pseudo-terminal' },
  { debian: 'tmux', program: 'tmux', checks: 'screens as a terminal shows them' },
  { debian: 'zsh', program: 'zsh', checks: 'completion in zsh' },
  { debian: 'fish', program: 'fish', checks: 'completion in fish' },
  { debian: 'systemd', program: 'systemd-analyze', checks: 'the units of systemd' },
  { debian: 'haproxy', program: 'haproxy', checks: 'the configuration of the load balancer' },
  { debian: 'prometheus', program: 'promtool', checks: 'the rules for Prometheus' },
  { debian: 'openssl', program: 'openssl', checks: 'HTTPS' },
  {
    debian: 'fido2-tools',
    program: 'fido2-cred',
    checks: 'FIDO attestations, issued keys and receipts by an independent judge',
  },
  {
    debian: 'python3-fido2',
    file: '/usr/lib/python3/dist-packages/fido2/__init__.py',
    checks: 'FIDO attestations by a second independent judge',
  },
  { debian: 'openssh-server', program: 'sshd', checks: 'logins with SSH keys of the registry' },
  { debian: 'openssh-client', program: 'ssh', checks: 'logins with SSH keys of the registry' },
  { debian: 'nginx', program: 'nginx', checks: 'the configuration of nginx in docs/doors.md' },
  {
    debian: 'libnginx-mod-http-js',
    file: '/usr/lib/nginx/modules/ngx_http_js_module.so',
    checks: 'the configuration of nginx in docs/doors.md',
  },
  ...['freeradius', 'freeradius-rest', 'freeradius-utils'].map((debian, at) => ({
    debian,
    file: ['/usr/sbin/freeradius', '/usr/lib/freeradius/rlm_rest.so', '/usr/bin/radclient'][at],
    checks: 'the configuration of FreeRADIUS in docs/doors.md',
  })),
  { debian: 'jq', program: 'jq', checks: 'lines of the documentation' },
  { debian: 'curl', program: 'curl', checks: 'lines of the documentation' },
  { debian: 'bsdutils', program: 'script', checks: 'recorded sessions of the documentation' },
  ...['proxy', 'account', 'container', 'object'].map(part => ({
    debian: `swift-${part}`,
    program: `swift-${part}-server`,
    checks: 'files in an object store',
  })),
  { debian: 'postgresql', folder: '/usr/lib/postgresql', checks: 'the store in PostgreSQL' },
  { debian: 'slapd', program: 'slapd', checks: 'persons from a directory' },
  { debian: 'tinyproxy', program: 'tinyproxy', checks: 'requests through a proxy' },
  { debian: 'strace', program: 'strace', checks: 'a disk whose fsync fails' },
];

/** Browser tests take a third of the processor time with it. Without it they run in chromium. */
const faster = { debian: 'chromium-headless-shell', program: 'chromium-headless-shell' };

/** Resolves when the machine is as ready as it can be made without asking anybody. Linux alone has these packages. */
export async function prepareMachine(underCi) {
  if (process.platform !== 'linux') return;
  await prepareFor(wanted, underCi);
  if (isThere(faster)) return;
  // Not every system has this package: apt-get would install none of the others.
  if (canInstall(underCi)) await install([faster], ['--no-remove']);
  else say(`for faster browser tests: apt-get install ${faster.debian}`);
}

/** Installs what is missing, under CI; names what is missing then. */
export async function prepareFor(items, underCi) {
  const isMissing = item => !isThere(item);
  if (canInstall(underCi)) await install(items.filter(isMissing));
  const missing = items.filter(isMissing);
  if (missing.length === 0) return;
  say(
    underCi ? 'these checks will fail, because this machine lacks what they test:' : 'these checks are skipped here:',
  );
  for (const { debian, checks } of missing) say(checks ? `  ${checks} (${debian})` : `  ${debian}`);
  say(`to have them run: apt-get install ${packagesOf(missing).join(' ')}`);
}

const canInstall = underCi => underCi && process.getuid() === 0 && isProgram('apt-get');
const packagesOf = items => items.map(item => item.debian);

/** A package that cannot be installed is found missing afterwards. */
async function install(items, options = []) {
  if (items.length === 0) return;
  say(`installing ${packagesOf(items).join(' ')} (CI is set) …`);
  await apt(['update', '-qq']);
  await apt(['install', '-y', '-qq', '--no-install-recommends', ...options, ...packagesOf(items)]);
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const timeouts = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=1'];
  return run('apt-get', [...timeouts, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function isThere({ program, library, file, folder }) {
  if (folder) return existsSync(folder) && readdirSync(folder).length > 0;
  if (program) return isProgram(program);
  return library ? isLibrary(library) : existsSync(file);
}

function isProgram(name) {
  const path = (process.env.PATH ?? '').split(delimiter);
  return [...path, '/usr/local/sbin', '/usr/sbin', '/sbin'].some(place => existsSync(join(place, name)));
}

function isLibrary(name) {
  return ['/lib', '/usr/lib', '/usr/local/lib'].some(base => {
    if (!existsSync(base)) return false;
    const folders = readdirSync(base, { withFileTypes: true }).filter(entry => entry.isDirectory());
    return [base, ...folders.map(entry => join(base, entry.name))].some(folder => existsSync(join(folder, name)));
  });
}
