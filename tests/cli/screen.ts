/** Programs on a pseudo-terminal: alone, or started from an interactive shell with job control. */
import { type ChildProcess, spawn } from 'node:child_process';
import { follow, type Running } from './program.ts';

export const ESC = '\u001b';
export const ctrl = { c: '\u0003', d: '\u0004', u: '\u0015', z: '\u001a' } as const;
export const keys = { down: `${ESC}[B`, enter: '\r', space: ' ' } as const;

const escapes = new RegExp(`${ESC}(?:\\[[0-9;?]*[A-Za-z]|\\[?[0-9;?]*$)`, 'g');
export const withoutColors = (text: string): string => text.replaceAll(escapes, '');

export interface Screen extends Running {
  type(text: string): void;
  /** Waits for text that has not been waited for before, without colors, and resolves to it. */
  shows(pattern: RegExp): Promise<string>;
  /** Waits for a question and answers it. */
  answer(question: RegExp, text: string): Promise<void>;
}

/** The words as a shell reads them. */
export const quoted = (words: readonly string[]): string =>
  words.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

export interface ScreenOptions {
  readonly home: string;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The command with its three streams on one pseudo-terminal. */
export function atTerminal(command: readonly string[], { home, columns = 80, env }: ScreenOptions): Screen {
  const child = spawn('script', ['-qefc', `stty cols ${columns} rows 24; exec ${quoted(command)}`, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      DEVMGR_HOME: home,
      DEVMGR_NO_KEYCHAIN: '1',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      DEVMGR_PAGER: '',
      SHELL: '/bin/sh',
      TZ: 'UTC',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const running = follow(child, null);
  const type = (text: string) => void child.stdin!.write(text);
  const shows = watched(child);
  return {
    ...running,
    type,
    shows,
    async answer(question, text) {
      await shows(question);
      type(`${text}${keys.enter}`);
    },
  };
}

/**
 * An interactive shell, in which `$ ` asks for the next command. Bash restores the modes of the terminal automatically; `sh` leaves
 * them.
 */
export async function shellAtTerminal(options: ScreenOptions, kind: 'bash' | 'sh' = 'bash'): Promise<Screen> {
  const env = { ...options.env, PS1: '$ ', INPUTRC: '/dev/null' };
  const command = kind === 'bash' ? ['bash', '--noprofile', '--norc', '-i'] : ['sh', '-i'];
  const shell = atTerminal(command, { ...options, env });
  await shell.shows(/\$ $/);
  return shell;
}

/** Types a command into a shell. */
export const enter = (shell: Screen, command: readonly string[]): void => shell.type(`${quoted(command)}\r`);

function watched(child: ChildProcess): Screen['shows'] {
  let text = '';
  let seen = 0;
  let changed: () => void = () => undefined;
  child.stdout!.on('data', (chunk: string) => {
    text += chunk;
    changed();
  });
  child.on('close', () => changed());
  return pattern =>
    new Promise((resolve, reject) => {
      changed = () => {
        const plain = withoutColors(text);
        const found = pattern.exec(plain.slice(seen));
        if (found) {
          seen += found.index + found[0].length;
          changed = () => undefined;
          resolve(found[0]);
        } else if (child.exitCode !== null) reject(new Error(`ended without ${pattern}:\n${plain.slice(seen)}`));
      };
      changed();
    });
}
