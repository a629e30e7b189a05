/** The built program in the guest: the processes of an operator, and what they print. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HOME = '/tmp/registry';
const PASSWORD = 'correct horse battery';
const PROGRAM = fileURLToPath(new URL('../../dist/devmgr.cjs', import.meta.url));
/** Exit code if the server does not respond in time. */
const UNREACHABLE = 9;
/** Milliseconds in which a line has to be printed: less than the time limit of a guest, which does not name the line. */
const PATIENCE = 100_000;

const environment = {
  ...process.env,
  DEVMGR_ADMIN_PASSWORD: PASSWORD,
  DEVMGR_LIMIT_MODIFY: 'off',
  DEVMGR_LIMIT_QUERY: 'off',
  DEVMGR_WEBHOOK_ALLOW: '127.0.0.1',
};

/** Starts `devmgr` with these arguments. */
export function start(...args: string[]): ChildProcess {
  return startIn(HOME, ...args);
}

/** Starts `devmgr` with another home than that of the registry. */
function startIn(home: string, ...args: string[]): ChildProcess {
  const env = { ...environment, DEVMGR_HOME: home };
  return spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Starts `devmgr` at a terminal of 200 columns. What is written to its input is typed. Arguments must not contain white space. */
export function startAtTerminal(...args: string[]): ChildProcess {
  // The guest does not mount it.
  if (!existsSync('/dev/pts/ptmx')) {
    mkdirSync('/dev/pts', { recursive: true });
    execFileSync('mount', ['-t', 'devpts', 'devpts', '/dev/pts']);
  }
  const command = `stty cols 200 rows 50; exec ${[process.execPath, PROGRAM, ...args].join(' ')}`;
  const env = { ...environment, DEVMGR_HOME: HOME, TERM: 'xterm', NO_COLOR: '1' };
  return spawn('script', ['-qefc', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** The output of a program, each line with its time in milliseconds since 1970. */
export class Screen {
  readonly lines: { readonly text: string; readonly at: number }[] = [];
  readonly #checks = new Set<() => void>();
  /** How the program has ended; null while it runs. */
  #end: string | null = null;

  constructor(child: ChildProcess) {
    child.once('close', (code, signal) => {
      this.#end = signal ?? `code ${code}`;
      for (const check of [...this.#checks]) check();
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', text => {
        this.lines.push({ text, at: performance.timeOrigin + performance.now() });
        for (const check of [...this.#checks]) check();
      });
    }
  }

  /** The lines as text. */
  get texts(): string[] {
    return this.lines.map(({ text }) => text);
  }

  /** The number of the first line from `from` on that passes the test. Rejects if the program ends without it. */
  until(what: string, test: (text: string) => boolean, from = 0): Promise<number> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        settle();
      };
      const fail = (why: string): void =>
        end(() => reject(new Error(`${what} was not printed${why}; last lines: ${this.texts.slice(-5).join(' | ')}`)));
      const check = (): void => {
        const found = this.lines.findIndex(({ text }, i) => i >= from && test(text));
        if (found >= 0) end(() => resolve(found));
        else if (this.#end !== null) fail(`: the program has ended (${this.#end})`);
      };
      const timer = setTimeout(() => fail(` within ${PATIENCE / 1000} s`), PATIENCE);
      this.#checks.add(check);
      check();
    });
  }
}

/** Runs `devmgr` to its end: its exit code and what it printed. */
export async function run(
  args: readonly string[],
  input = '',
  home = HOME,
): Promise<{ code: number; lines: string[] }> {
  const child = startIn(home, ...args);
  const screen = new Screen(child);
  child.stdin!.end(input);
  const [code] = await once(child, 'close');
  return { code, lines: screen.texts };
}

/** A daemon with a new registry, in which this user is logged in as its administrator. `more`: further options of the daemon. */
export async function daemonWithLogin(
  ...more: readonly string[]
): Promise<{ readonly daemon: ChildProcess; readonly url: string }> {
  const running = await daemonIn(HOME, 0, ...more);
  await loginIn(HOME, running.url);
  return running;
}

/** A station with a home of its own, whose user is logged in at this registry as its administrator. `port`: of its daemon. */
export async function stationWithLogin(home: string, registry: string, port: number) {
  await loginIn(home, registry);
  const set = await run(['config', 'set', 'hardware', `http://127.0.0.1:${port}`], '', home);
  if (set.code !== 0) throw new Error(`no hardware: ${set.lines.join(' | ')}`);
  return {
    /** Starts the daemon, which reads the keys. */
    daemon: async () => (await daemonIn(home, port, '--role', 'station')).daemon,
    start: (...args: string[]) => startIn(home, ...args),
    /** Resolves when no key is attached. */
    async isEmpty(): Promise<void> {
      let list: readonly unknown[];
      do ({ list } = JSON.parse((await run(['keys', '--json'], '', home)).lines.join('')));
      while (list.length > 0);
    },
  };
}

async function daemonIn(home: string, port: number, ...more: readonly string[]) {
  const daemon = startIn(home, 'daemon', 'run', '--port', `${port}`, '--json', ...more);
  const log = new Screen(daemon);
  const listening = await log.until('the daemon', text => text.includes('"listening"'));
  const { url } = JSON.parse(log.lines[listening]!.text) as { url: string };
  return { daemon, url };
}

async function loginIn(home: string, url: string): Promise<void> {
  const attempt = () => run(['login', 'admin', '--password-stdin', '--server', url], `${PASSWORD}\n`, home);
  let login = await attempt();
  // On a busy machine the emulated processor takes longer for the hash of a password than a client waits.
  for (let more = 4; login.code === UNREACHABLE && more > 0; more--) login = await attempt();
  if (login.code !== 0) throw new Error(`no login: ${login.lines.join(' | ')}`);
}

/** Calls the interface of the daemon as its administrator: the `data` of the response. Rejects if that is not a success. */
export type Call = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

/** A login on the daemon, apart from that of the program. */
export async function administrator(url: string): Promise<Call> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const call: Call = async (method, path, body) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(url + path, init);
    const { code, message, data } = (await response.json()) as { code: number; message: string; data: never };
    if (code !== 200) throw new Error(`${path}: ${code} ${message}`);
    return data;
  };
  const { token } = await call<{ token: string }>('POST', '/api/auth/login', { username: 'admin', password: PASSWORD });
  headers.authorization = `Bearer ${token}`;
  return call;
}

/** Resolves when the daemon counts this many open streams of notifications. It reports them only when it is asked. */
export async function streamsOpen(url: string, count: number): Promise<void> {
  const open = async (): Promise<number> => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/^devmgr_streams(?:\{.*\})? (\d+)/m.exec(metrics)?.[1] ?? 0);
  };
  while ((await open()) < count);
}
