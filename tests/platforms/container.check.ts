/**
 * The image of packaging/image.sh, run as a container: not by root, with a read-only root and one volume, without capabilities and
 * network. systemd-nspawn runs it with the settings of the image, because no runtime of containers runs on every machine.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inDebian, minbase } from '../deb/roots.ts';
import { adminPassword } from '../support/daemon.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const image = `localhost/devmgr:${version}`;
/** A database that a daemon of the schema 17 has written; its journal key is 32 bytes of 7. */
const ofSchema17 = join(root, 'tests/support/registry-of-names.db.gz');
/** The user of the image. */
const userId = 10_001;

interface Config {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

let folder: string;
let config: Config;

/** Runs a program with images of its own: those of this machine stay as they are. */
async function call(program: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'), BASE_TAR: minbase() };
  const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 1 << 26 });
  return stdout.trim();
}

/** A program with its output. */
async function ran(child: ChildProcess) {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

class Container {
  readonly #child: ChildProcess;
  readonly #ended: ReturnType<typeof ran>;
  #leader = 0;

  private constructor(name: string, rootFolder: string, volume: string) {
    const rights = ['--no-new-privileges=yes', '--drop-capability=all', '--private-network', `--user=${config.User}`];
    const mounts = ['--read-only', '--tmpfs=/tmp', `--bind=${volume}:${Object.keys(config.Volumes)[0]}`];
    const env = [...config.Env, `DEVMGR_ADMIN_PASSWORD=${adminPassword}`].map(value => `--setenv=${value}`);
    const flags = ['--quiet', '--register=no', '--keep-unit', `--machine=${name}`, ...rights, ...mounts, ...env];
    const command = [...config.Entrypoint, ...config.Cmd, '--simulate-keys', '2'];
    this.#child = spawn('systemd-nspawn', ['-D', rootFolder, ...flags, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = ran(this.#child);
  }

  /** A new container of the image, once its daemon listens. */
  static async start(name: string, volume: string): Promise<Container> {
    const made = await call('buildah', 'from', '--pull-never', image);
    const container = new Container(name, await call('buildah', 'mount', made), volume);
    const listens = new Promise<'listens'>(resolve => {
      let output = '';
      container.#child.stdout!.on('data', (part: Buffer) => {
        output += part;
        if (output.includes('"event":"listening"')) resolve('listens');
      });
    });
    const first = await Promise.race([listens, container.#ended]);
    if (first !== 'listens') throw new Error(`the container ended: ${JSON.stringify(first)}`);
    const { pid } = container.#child;
    container.#leader = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
    return container;
  }

  /** A program in the container, as its user and with its environment. */
  run(words: readonly string[], input = '') {
    const into = ['--target', `${this.#leader}`, '--all', '--setuid', `${userId}`, '--setgid', `${userId}`];
    const child = spawn('nsenter', [...into, 'env', '-i', ...config.Env, ...words]);
    child.stdin.end(input);
    return ran(child);
  }

  async devmgr(...args: readonly string[]): Promise<string> {
    const done = await this.run(['devmgr', ...args], `${adminPassword}\n`);
    expect(done).toMatchObject({ code: 0 });
    return done.stdout;
  }

  async serials(): Promise<string[]> {
    const { list } = JSON.parse(await this.devmgr('list', '--json')) as { list: { serialNumber: string }[] };
    return list.map(({ serialNumber }) => serialNumber).sort();
  }

  /** As `docker stop` does. */
  async stop(): Promise<void> {
    process.kill(this.#leader, 'SIGTERM');
    expect(await this.#ended).toMatchObject({ code: 0 });
  }
}

function volumeWith(name: string, files: Readonly<Record<string, string | Buffer>> = {}): string {
  const volume = join(folder, name);
  mkdirSync(volume, { mode: 0o700 });
  chownSync(volume, userId, userId);
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(volume, file), content, { mode: 0o600 });
    chownSync(join(volume, file), userId, userId);
  }
  return volume;
}

const tools = { debootstrap: 'debootstrap', buildah: 'buildah', 'systemd-nspawn': 'systemd-container' };
inDebian(
  'the image',
  () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'devmgr-image-'));
      const storage = { graphroot: join(folder, 'images'), runroot: join(folder, 'run') };
      const lines = Object.entries({ driver: 'vfs', ...storage }).map(([name, value]) => `${name} = "${value}"`);
      writeFileSync(join(folder, 'storage.conf'), ['[storage]', ...lines, ''].join('\n'));
      await call(join(root, 'packaging/image.sh'));
      config = JSON.parse(await call('buildah', 'inspect', '--type', 'image', image)).Docker.config;
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('is not run by root, has one volume and a health check, and at most 150 MB in a registry of images', async () => {
      expect(config).toMatchObject({
        User: 'devmgr',
        Volumes: { '/var/lib/devmgr': {} },
        Healthcheck: { Test: ['CMD', '/usr/bin/devmgr', 'daemon', 'status'] },
      });
      await call('buildah', 'push', '--quiet', image, `oci:${folder}/oci:${version}`);
      const blobs = join(folder, 'oci/blobs/sha256');
      const bytes = readdirSync(blobs).reduce((sum, name) => sum + statSync(join(blobs, name)).size, 0);
      expect(bytes).toBeLessThan(150e6);
      expect(bytes).toBeGreaterThan(50e6);
    });

    it('enrolls the first key, is healthy, stops, and a new container on the same volume has the key', async () => {
      const volume = volumeWith('volume');
      const first = await Container.start('devmgr-first', volume);
      expect(await first.run(config.Healthcheck.Test.slice(1))).toMatchObject({ code: 0 });
      expect(await first.run(['touch', '/etc/x'])).toMatchObject({ stderr: expect.stringContaining('Read-only') });
      await first.devmgr('login', 'admin', '--password-stdin');
      await first.devmgr('enroll', '--count', '2', '--timeout', '60');
      const keys = await first.serials();
      expect(keys).toEqual(['SIM-SIMKEY-0002', 'SIM-UKEY-0001']);
      await first.stop();
      const second = await Container.start('devmgr-second', volume);
      expect(await second.serials()).toEqual(keys);
      await second.stop();
    });

    it('upgrades the registry of an earlier version on its volume', async () => {
      const journalKey = Buffer.alloc(32, 7).toString('base64');
      const files = { 'devmgr.db': gunzipSync(readFileSync(ofSchema17)), 'journal-key': journalKey };
      const container = await Container.start('devmgr-upgraded', volumeWith('earlier', files));
      await container.devmgr('login', 'admin', '--password-stdin');
      expect(await container.serials()).toContain('OLD-25');
      expect(await container.devmgr('daemon', 'check')).toMatch(/^OK: 25 devices/);
      await container.stop();
    });
  },
  tools,
);
