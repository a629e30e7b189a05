/** A real proxy. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { poll } from '../../src/delivery/wait.ts';
import { freePort } from './free-port.ts';
import { findTool } from './needs.ts';
import { temporaryFolder } from './temporary.ts';

interface Tinyproxy {
  /** HOST:PORT. */
  readonly place: string;
  /** The first lines of the requests that it got, such as `CONNECT HOST:PORT HTTP/1.1`. */
  requests(): readonly string[];
  end(): Promise<void>;
}

/** Starts a proxy, which ends with the test. `credentials`: NAME:PASSWORD that it asks for. */
export async function startTinyproxy(credentials?: string): Promise<Tinyproxy> {
  const folder = temporaryFolder();
  const port = await freePort();
  const log = join(folder, 'proxy.log');
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'Timeout 30', 'MaxClients 20', 'LogLevel Connect'];
  const login = credentials ? [`BasicAuth ${credentials.replace(':', ' ')}`] : [];
  writeFileSync(join(folder, 'proxy.conf'), [...lines, `LogFile "${log}"`, ...login, ''].join('\n'));
  const proxy = spawn(findTool('tinyproxy')!, ['-d', '-c', join(folder, 'proxy.conf')], { stdio: 'ignore' });
  const ended = once(proxy, 'exit');
  onTestFinished(() => void proxy.kill());
  const answers = async () => {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => null,
    );
    socket.destroy();
    return isOpen;
  };
  await poll(answers, { everyMs: 50 });
  return {
    place: `127.0.0.1:${port}`,
    requests: () =>
      [...readFileSync(log, 'utf8').matchAll(/Request \(file descriptor \d+\): (.*)/g)].map(([, line]) => line!),
    async end() {
      proxy.kill('SIGKILL');
      await ended;
    },
  };
}
