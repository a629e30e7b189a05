/**
 * The built program with a key that wants to be touched. `devmgr keys verify` reports this, and the key proves its model after the
 * touch, by CTAP2 and by U2F. Ctrl-C cancels the request at the key. A key that is pulled out before it was touched ends the command
 * with one line. The daemon keeps no interface of a key open, and the next proof works.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Bench } from '../harness.ts';
import { AAGUID, type KeySpec } from '../key-models.ts';
import { daemonWithLogin, run, Screen, start, streamsOpen } from '../program.ts';

const TOUCH = /Touch the key when it blinks/;
const SERIAL = 'FT-0001';
const EXIT = { done: 0, hardware: 10 } as const;

const { daemon, url } = await daemonWithLogin();
const watch = start('watch', '--json', '--type', 'KEY_ATTACHED', '--type', 'KEY_DETACHED');
const watched = new Screen(watch);
await streamsOpen(url, 1);
const bench = new Bench();
const root = await bench.root('fido');
const pem = `-----BEGIN CERTIFICATE-----\n${root.toString('base64')}\n-----END CERTIFICATE-----\n`;
/** The keys that the root vouches for: a model of FIDO2, or keys with U2F only. */
async function trust(...flags: string[]): Promise<void> {
  assert.equal((await run(['trust', 'add', '-', '--purpose', 'fido', ...flags], pem)).code, EXIT.done);
}

/** The interfaces of keys that the daemon has open. */
const openInterfaces = (): string[] =>
  readdirSync(`/proc/${daemon.pid}/fd`)
    .map(fd => {
      try {
        return readlinkSync(`/proc/${daemon.pid}/fd/${fd}`);
      } catch {
        return '';
      }
    })
    .filter(path => path.includes('hidraw'));

/** node-hid closes an interface when its reading thread has ended, up to a second after the answer: no event reports it. */
async function untilClosed(): Promise<void> {
  const until = Date.now() + 5_000;
  while (openInterfaces().length > 0) {
    assert.ok(Date.now() < until, `still open: ${openInterfaces().join(', ')}`);
    await pause(50);
  }
}

/** Plugs a key in, and returns when the daemon has reported it. */
async function plugged(model: KeySpec['model']): Promise<number> {
  const from = watched.lines.length;
  const { id } = await bench.plug({ model, serial: SERIAL });
  await watched.until('the key', text => text.includes('KEY_ATTACHED') && text.includes(SERIAL), from);
  return id;
}

/** Runs `devmgr keys verify` until it asks for a touch, then does `then`: the exit code and the lines after the request for a touch. */
async function verify(then: () => Promise<unknown>): Promise<{ code: number; lines: string[] }> {
  const child = start('keys', 'verify', SERIAL);
  const screen = new Screen(child);
  const asked = await screen.until('the request for a touch', text => TOUCH.test(text));
  await then();
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, lines: screen.texts.slice(asked + 1).filter(line => line !== '') };
}

async function unplug(id: number): Promise<void> {
  const from = watched.lines.length;
  await bench.unplug(id);
  await watched.until('its unplugging', text => text.includes('KEY_DETACHED') && text.includes(SERIAL), from);
}

for (const [model, method, flags] of [
  ['fido2', 'fido', ['--aaguid', AAGUID]],
  ['u2f', 'u2f', []],
] as const) {
  await trust(...flags);
  let id = await plugged(model);
  const proved = await verify(() => bench.touch(id));
  assert.equal(proved.code, EXIT.done);
  assert.ok(
    proved.lines.some(line => new RegExp(`proved by: +${method}, `).test(line)),
    proved.lines.join('\n'),
  );
  await untilClosed();
  console.log(`  ${model}: proved its model after a touch`);

  const pulled = await verify(() => bench.unplug(id));
  assert.equal(pulled.code, EXIT.hardware);
  assert.equal(pulled.lines.filter(line => line.includes('was unplugged')).length, 1, pulled.lines.join('\n'));
  await untilClosed();
  console.log(`  ${model}: pulled out before it was touched:`);
  for (const line of pulled.lines) console.log(`    ${line}`);

  id = await plugged(model);
  assert.equal((await verify(() => bench.touch(id))).code, EXIT.done);
  await unplug(id);
  console.log(`  ${model}: plugged in again, proved its model`);
}

await trust('--aaguid', AAGUID);
const id = await plugged('fido2');
const child = start('keys', 'verify', SERIAL);
const screen = new Screen(child);
await screen.until('the request for a touch', text => TOUCH.test(text));
child.kill('SIGINT');
const [code, signal] = await once(child, 'close');
assert.equal(code ?? signal, 130, screen.texts.join('\n'));
while ((await bench.canceled(id)) === 0);
await untilClosed();
assert.equal((await verify(() => bench.touch(id))).code, EXIT.done);
console.log('  Ctrl-C canceled the request at the key, and the next proof worked');

await unplug(id);
await bench.end();
watch.kill('SIGINT');
await once(watch, 'close');
daemon.kill('SIGINT');
await once(daemon, 'close');
process.exit(0);
