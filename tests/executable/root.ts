import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const executable = join(root, 'dist/bin', `devmgr-${process.platform}-${process.arch}`);

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly before?: string;
  /** A folder of this machine that is seen in there under another name. */
  readonly bind?: { readonly from: string; readonly to: string };
}

/**
 * A file system with the executable, the C and C++ libraries it is linked with, a shell, and nothing else: no Node, no npm, no
 * library of USB or PC/SC.
 */
export class BareRoot {
  readonly folder = mkdtempSync(join(tmpdir(), 'devmgr-root-'));

  constructor() {
    for (const place of ['bin', 'tmp', 'home', 'work', 'proc', 'dev'])
      mkdirSync(join(this.folder, place), { recursive: true });
    this.#install(executable, '/bin/devmgr');
    for (const tool of [
      'sh',
      'awk',
      'cat',
      'chmod',
      'chown',
      'dd',
      'grep',
      'ln',
      'ls',
      'mkdir',
      'mount',
      'rm',
      'sed',
    ]) {
      this.#install(
        execFileSync('sh', ['-c', `command -v ${tool} || echo /bin/${tool}`], { encoding: 'utf8' }).trim(),
        `/bin/${tool}`,
      );
    }
  }

  /** Runs a script in there; `before` as well, with the rights of a new mount namespace. */
  run(script: string, { env = {}, before = 'true', bind }: RunOptions = {}): Promise<Ran> {
    const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
    const inside = `PATH=/bin; ${before}; cd /work; ${script}`;
    const bound = bind ? `mkdir -p ${this.folder}${bind.to}; mount --bind ${bind.from} ${this.folder}${bind.to};` : '';
    const outside = `${bound} mount --rbind /proc ${this.folder}/proc; touch ${this.folder}/dev/null; mount --bind /dev/null ${this.folder}/dev/null; exec chroot ${this.folder} /bin/sh -ec "$0"`;
    const call = [...user, '--mount', 'sh', '-ec', outside, inside];
    const child = spawn('unshare', call, {
      env: { HOME: '/home', PATH: `${process.env.PATH}:/usr/sbin:/sbin`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ran = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', text => (ran.stdout += text));
    child.stderr.setEncoding('utf8').on('data', text => (ran.stderr += text));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', code => resolve({ code, ...ran }));
    });
  }

  /** Puts a library of this machine into it, with what that one is linked with. */
  addLibrary(file: string): void {
    this.#install(file, `/lib/${basename(file)}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #install(file: string, as: string): void {
    copyFileSync(file, join(this.folder, as));
    const libraries = execFileSync('ldd', [file], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g);
    for (const [, library] of libraries) {
      const target = join(this.folder, library!.startsWith('/lib') ? library! : `/lib/${basename(library!)}`);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(library!, target);
    }
  }
}
