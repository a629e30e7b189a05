/** Writes of a process to the disk and to its sockets, in the order in which the calls returned, as strace sees it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface TracedCall {
  readonly name: string;
  /** Arguments as strace writes them, with the paths of descriptors. */
  readonly args: string;
}

export interface DiskTrace {
  /**
   * Ends the tracing; the calls that succeeded. `last`: tracing continues until this call has returned, because its effect may be
   * seen before that.
   */
  end(last?: (call: TracedCall) => boolean): Promise<readonly TracedCall[]>;
}

export async function traceDisk(pid: number): Promise<DiskTrace> {
  const calls = 'fsync,fdatasync,rename,renameat,renameat2,link,linkat,write,writev,sendto';
  const flags = ['-f', '-y', '-s', '80', '-e', `trace=${calls}`, '-e', 'signal=none', '-p', String(pid)];
  const tracer = spawn('strace', flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  tracer.stderr.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  await once(tracer.stderr, 'data');
  return {
    async end(last) {
      if (last) while (!callsOf(text).some(last)) await once(tracer.stderr, 'data');
      tracer.kill('SIGINT');
      await once(tracer, 'close');
      return callsOf(text);
    },
  };
}

/** A call during which another thread made one is written in two parts: its beginning, and later `resumed`. */
function callsOf(text: string): TracedCall[] {
  const begun = new Map<string, string>();
  return text.split('\n').flatMap((line): TracedCall[] => {
    const [, thread = '', rest = ''] = /^(?:\[pid +(\d+)\] )?(.*)$/.exec(line) ?? [];
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(rest);
    if (unfinished) {
      begun.set(thread, unfinished[1]!);
      return [];
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const whole = resumed ? `${begun.get(thread) ?? ''}${resumed[1]}` : rest;
    const [, name, args] = /^(\w+)\((.*)\) += \d/.exec(whole) ?? [];
    return name === undefined ? [] : [{ name, args: args! }];
  });
}
