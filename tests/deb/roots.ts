/** Clean Debian roots, made by debootstrap once and then unpacked from the cache; remove .cache/debian to make them again. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { findTool } from '../support/needs.ts';
import { cache } from './packages.ts';

const suite = process.env.DEVMGR_DEBIAN_SUITE ?? 'bookworm';
const archive = process.env.DEVMGR_DEBIAN_ARCHIVE ?? 'http://deb.debian.org/debian';
const tools = { debootstrap: 'debootstrap', 'systemd-nspawn': 'systemd-container', lintian: 'lintian' };

/** Packages that the package depends on and recommends: fetched beforehand, because the roots have no network. */
const fetched = ['libusb-1.0-0', 'libatomic1', 'libstdc++6', 'libpcsclite1', 'pcscd', 'vsmartcard-vpcd'];
const ofAMachine = ['systemd-sysv', 'dbus', 'udev', 'libpam-systemd', 'sudo', 'bash-completion', 'zsh', 'fish'];

/** `describe` for checks in a Debian root: a named skip where the machine lacks something, a failure under CI. */
export function inDebian(name: string, body: () => void, needed: Readonly<Record<string, string>> = tools): void {
  const missing = Object.entries(needed).filter(([tool]) => findTool(tool) === null);
  const lack = missing.length
    ? `apt-get install ${missing.map(([, debian]) => debian).join(' ')}`
    : process.getuid?.() !== 0
      ? 'run as root'
      : spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0
        ? 'this machine allows no namespaces'
        : null;
  if (lack === null || process.env.CI) describe(name, body);
  else describe.skip(`${name} (skipped: ${lack})`, body);
}

export type Kind =
  /** `debootstrap --variant=minbase`: what a container has. */
  | 'minbase'
  /** `minbase` with systemd, a bus, sudo and a user: what a machine has. */
  | 'machine'
  /** A machine with PostgreSQL, which starts with it. */
  | 'database';

/** Unpacks a clean root into a new folder and returns its path. */
export function unpackRoot(kind: Kind): string {
  const archive = { minbase, machine, database }[kind]();
  const folder = mkdtempSync(join(tmpdir(), `devmgr-${kind}-`));
  execFileSync('tar', ['-C', folder, '-xpf', archive]);
  return folder;
}

export function removeRoot(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a script in a root, as root, in a mount namespace that ends with it. The host's network is there if `network`. */
export function chroot(folder: string, script: string, { network = false } = {}) {
  const mounts = `mount -t proc proc ${folder}/proc; mount -t tmpfs tmpfs ${folder}/run; mount --rbind /dev ${folder}/dev`;
  const call = ['--mount', '--pid', '--fork', ...(network ? [] : ['--net']), 'sh', '-ec'];
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    LC_ALL: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
  };
  const up = network ? 'true' : 'ip link set lo up';
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    [...call, `${mounts}; ${up}; exec chroot ${folder} bash -c "$0"`, script],
    { env, encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  return { status, output: stdout + stderr };
}

/** The tar file of a root that debootstrap has made. */
export function minbase(): string {
  return cached('minbase', folder => {
    execFileSync('debootstrap', ['--variant=minbase', suite, folder, archive], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    inside(folder, `apt-get update -qq; apt-get install -qq -y --download-only ${fetched.join(' ')}`);
  });
}

/** Installs packages and starts no service. */
function install(folder: string, packages: readonly string[]): void {
  const policy = join(folder, 'usr/sbin/policy-rc.d');
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  inside(folder, `apt-get install -qq -y --no-install-recommends ${packages.join(' ')}`);
  rmSync(policy);
}

function database(): string {
  return cached('database', folder => {
    execFileSync('tar', ['-C', folder, '-xf', machine()]);
    install(folder, ['postgresql', 'postgresql-contrib']);
  });
}

function machine(): string {
  return cached('machine', folder => {
    execFileSync('tar', ['-C', folder, '-xf', minbase()]);
    install(folder, ofAMachine);
    inside(folder, 'useradd --create-home --shell /bin/bash ada');
    writeFileSync(join(folder, 'etc/sudoers.d/ada'), 'ada ALL=(ALL) NOPASSWD: ALL\n');
    writeFileSync(join(folder, 'etc/hostname'), 'station\n');
    writeFileSync(join(folder, 'etc/hosts'), '127.0.0.1 localhost station\n');
  });
}

function inside(folder: string, script: string): void {
  const { status, output } = chroot(folder, `set -e; ${script}`, { network: true });
  if (status !== 0) throw new Error(`a Debian root could not be made: ${output}`);
}

/** The tar file of that name; if it does not exist, `fill` makes it in an empty folder. */
function cached(name: Kind, fill: (folder: string) => void): string {
  const file = join(cache, `${suite}-${name}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-root-'));
  // It becomes `/`, which everybody may enter.
  chmodSync(folder, 0o755);
  try {
    fill(folder);
    execFileSync('tar', ['-C', folder, '-cf', `${file}.part`, '.']);
    renameSync(`${file}.part`, file);
  } finally {
    removeRoot(folder);
  }
  return file;
}

/** Version of Debian in a root, such as 12.11. */
export function debianVersion(folder: string): string {
  return readFileSync(join(folder, 'etc/debian_version'), 'utf8').trim();
}
