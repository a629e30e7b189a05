import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The fenced blocks of one language on a Markdown page, with the line on which each begins. */
export function blocksOf(page: string, language: string): { line: number; code: string }[] {
  const blocks: { line: number; code: string }[] = [];
  let open: { fence: string; info: string; line: number; lines: string[] } | null = null;
  for (const [index, text] of page.split('\n').entries()) {
    const fence = /^(`{3,})(.*)$/.exec(text);
    if (open && fence?.[1] === open.fence && fence[2]?.trim() === '') {
      if (open.info === language) blocks.push({ line: open.line, code: open.lines.join('\n') });
      open = null;
    } else if (open) open.lines.push(text);
    else if (fence) open = { fence: fence[1]!, info: fence[2]!.trim(), line: index + 1, lines: [] };
  }
  return blocks;
}

export interface Ran {
  /** Exit code; null where a signal ended it. */
  readonly status: number | null;
  readonly output: string;
}

/**
 * A person at a shell who types one block after the other: folder and variables are kept from block to block, `devmgr`
 * is the built program, the home is empty, and there is no terminal.
 */
export class Shell {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  static async open(folder: string, program: string): Promise<Shell> {
    const programs = join(folder, 'programs');
    const home = join(folder, 'home');
    for (const place of [programs, home, join(folder, 'work')]) await mkdir(place, { recursive: true });
    const start = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
    await writeFile(join(programs, 'devmgr'), start, { mode: 0o755 });
    await writeFile(join(folder, 'state'), `cd '${join(folder, 'work')}'\n`);
    const path = `${programs}:${dirname(process.execPath)}:${process.env.PATH}`;
    return new Shell(folder, { HOME: home, PATH: path, LANG: 'C.UTF-8', TERM: 'dumb' });
  }

  /** Runs a block; it ends at the first command that fails. */
  run(code: string): Promise<Ran> {
    const state = `'${join(this.#folder, 'state')}'`;
    const keep = `{ export -p; printf 'cd %q\\n' "$PWD"; } >${state}`;
    const script = `. ${state}\nset -euo pipefail\ntrap ${JSON.stringify(keep)} EXIT\n${code}\n`;
    const child = spawn('bash', ['-c', script], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', status => resolve({ status, output }));
    });
  }

  /** Ends what the blocks may have left running, in homes below the folder as well. */
  async end(): Promise<void> {
    await this.run('for home in ~/.local/share/devmgr */; do devmgr daemon stop --home "$home" || true; done');
  }
}
