import { spawnSync } from 'node:child_process';
import { type Bench, few } from '../bench.ts';
import { type BenchDaemon, program, startDaemon } from '../processes.ts';
import { median, type Pair, type Row, ratio } from '../report.ts';

/** Processes that one figure is the median of. */
const times = 10;

/** Commands from their start to their end beside `node -e 0`. */
export async function* commandRows(bench: Bench): AsyncGenerator<Row> {
  const daemon = await startDaemon(await bench.home(few));
  const commands = [
    ['devmgr --version', ['--version'], 1.5, /^devmgr \d+\.\d+/],
    ['devmgr list, of a running daemon', ['list', '--no-autostart'], 2.2, /DEV-\d+/],
  ] as const;
  try {
    for (const [work, args, atMost, shows] of commands) {
      const pairs: Pair[] = [];
      for (let i = 0; i < bench.repetitions; i++) pairs.push(alternating(daemon, args, shows));
      yield ratio(work, 'ms', pairs, 'node -e 0', { atMost });
    }
  } finally {
    await daemon.stop();
  }
}

function alternating(daemon: BenchDaemon, args: readonly string[], shows: RegExp): Pair {
  const env = {
    ...process.env,
    DEVMGR_HOME: daemon.home,
    DEVMGR_SERVER: daemon.url,
    DEVMGR_TOKEN: daemon.token,
  };
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = -1; i < times; i++) {
    const figure = run([program, ...args], env, shows);
    const floor = run(['-e', '0'], process.env, /^$/);
    if (i < 0) continue;
    ours.push(figure);
    theirs.push(floor);
  }
  return [median(ours), median(theirs)];
}

/** Milliseconds; throws where it fails or does not write what it should. */
function run(args: readonly string[], env: NodeJS.ProcessEnv, shows: RegExp): number {
  const begun = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const ms = performance.now() - begun;
  if (status !== 0 || !shows.test(stdout)) throw new Error(`${args.join(' ')}: ${status} ${stdout}${stderr}`);
  return ms;
}
