/**
 * A FIDO key that Debian's fido2-tools open where no HID device can be made: libfido2 reads and writes the reports of a hidraw node, and
 * takes a pseudoterminal for one whose report descriptor it cannot read.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { FidoKey } from './fido-key.ts';
import type { TestAuthenticator } from './test-authenticator.ts';

/** Opens a pseudoterminal, prints its path, and passes bytes on until standard input ends. */
const TERMINAL = `
import os, select, tty
near, far = os.openpty()
tty.setraw(far)
os.write(1, (os.ttyname(far) + "\\n").encode())
while True:
    ready = select.select([0, near], [], [])[0]
    if near in ready: os.write(1, os.read(near, 65536))
    if 0 in ready:
        given = os.read(0, 65536)
        if not given: break
        os.write(near, given)
`;
/** Bytes of a report, after the number of the report. */
const REPORT = 64;

/** Plugs the key in for the rest of the test: the path that the tools take. Touched as soon as it asks for it. */
export async function ptyKey(authenticator: TestAuthenticator): Promise<string> {
  const key = new FidoKey({ authenticator, touched: true, forOthers: true });
  const terminal = spawn('python3', ['-c', TERMINAL], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    terminal.stdin.end();
    await once(terminal, 'close');
  });
  const path = `${(await once(terminal.stdout, 'data'))[0]}`.trim();
  key.onReports(() => {
    for (const report of key.takeAll()) terminal.stdin.write(report);
  });
  let unread = Buffer.alloc(0);
  terminal.stdout.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes]);
    for (; unread.length > REPORT; unread = unread.subarray(REPORT + 1)) void key.write(unread.subarray(1, REPORT + 1));
  });
  return path;
}

/**
 * Runs one of the tools to its end. `lines`: what it reads, PINs too. In a session without a terminal, so that it does not ask for
 * them at the terminal of the tests; not as the leader of the session, because the key would become its terminal.
 */
export async function fidoTool(program: string, args: readonly string[], ...lines: readonly string[]) {
  const tool = spawn('/bin/sh', ['-c', '"$@"; exit $?', 'sh', program, ...args], { detached: true });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    tool[name].setEncoding('utf8').on('data', text => {
      output[name] += text;
    });
  tool.stdin.on('error', () => undefined).end(lines.map(line => `${line}\n`).join(''));
  const [code] = await once(tool, 'close');
  return { code: code as number | null, ...output };
}
