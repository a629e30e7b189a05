/**
 * The built program, as an operator has it: keys are plugged one after the other while `devmgr enroll` runs, and each comes out
 * with its activation code on the screen. Prints how long after the kernel's own listing the code stood there.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Hands } from '../hands.ts';
import { listedAt, summary } from '../kernel.ts';

const KEYS = Number(process.argv[2] ?? 40);
const HOME = '/tmp/registry';
const PASSWORD = 'correct horse battery';
const PROGRAM = fileURLToPath(new URL('../../../dist/devmgr.cjs', import.meta.url));

function start(...args: string[]): ChildProcess {
  const env = { ...process.env, DEVMGR_HOME: HOME, DEVMGR_ADMIN_PASSWORD: PASSWORD, DEVMGR_LIMIT_MODIFY: 'off' };
  return spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Each line of its output with the time it came, in milliseconds since 1970. */
async function* linesOf(child: ChildProcess): AsyncGenerator<{ text: string; at: number }> {
  for await (const text of createInterface({ input: child.stdout! })) {
    yield { text, at: performance.timeOrigin + performance.now() };
  }
}

const daemon = start('daemon', 'run', '--port', '0', '--json');
const log = linesOf(daemon);
let url = '';
while (url === '') {
  const { value, done } = await log.next();
  assert.ok(!done, 'the daemon has ended');
  const line = JSON.parse(value.text) as { event?: string; url: string };
  if (line.event === 'listening') url = line.url;
}
daemon.stdout!.resume();
const login = start('login', 'admin', '--password-stdin', '--server', url);
login.stdin!.end(`${PASSWORD}\n`);
await new Promise(resolve => login.on('close', resolve));

const enroll = start('enroll', '--out', '/tmp/codes.csv');
const shown = linesOf(enroll);
// It is ready when the daemon counts its stream.
while (!/^devmgr_streams [1-9]/m.test(await (await fetch(`${url}/metrics`)).text()));

const hands = new Hands();
const fromKernel: number[] = [];
const fromPlug: number[] = [];
for (let i = 0; i < KEYS; i += 1) {
  const serial = `BOX-${1000 + i}`;
  const { place, at } = await hands.plug({ recipe: i % 4 === 3 ? 'bank' : 'plain', serial });
  const first = (await shown.next()).value!;
  const second = (await shown.next()).value!;
  assert.match(first.text, new RegExp(`registered +DEV-${i + 1} .*${serial}`));
  assert.match(second.text, /activation code +[A-Z2-9]{4}(-[A-Z2-9]{4}){3}$/);
  const ids = i % 4 === 3 ? { vendorId: '055c', productId: 'db08' } : { vendorId: '096e', productId: '0850' };
  const listed = listedAt({ ...ids, serial });
  assert.ok(listed, `${serial} was enrolled but is not there`);
  fromKernel.push(second.at - listed);
  fromPlug.push(second.at - at);
  await hands.pull(place);
}
hands.end();
for (const child of [enroll, daemon]) {
  child.kill('SIGINT');
  await new Promise(resolve => child.on('close', resolve));
}
console.log(`  ${KEYS} keys, each registered once`);
console.log(`  ${summary('its code on the screen after the kernel listed it', fromKernel)}`);
console.log(`  ${summary('its code on the screen after it was plugged', fromPlug)}`);
process.exit(0);
