/** Without libusb or libudev the driver is unavailable and explains what to install; after that it works without a restart. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { HidProcess } from '../../support/hid-process.ts';
import { Bench } from '../harness.ts';

const LIBRARIES = '/usr/lib/x86_64-linux-gnu';
const run = (command: string, ...words: string[]): void => void execFileSync(command, words);

/** Hides the files of a library: an overlay marks them as deleted. Returns a function that restores them. */
function hide(library: string): () => void {
  const layer = mkdtempSync('/tmp/without-');
  mkdirSync(`${layer}/top`);
  mkdirSync(`${layer}/work`);
  for (const file of readdirSync(LIBRARIES).filter(name => name.startsWith(library))) {
    run('mknod', `${layer}/top/${file}`, 'c', '0', '0');
  }
  const options = `lowerdir=${LIBRARIES},upperdir=${layer}/top,workdir=${layer}/work`;
  run('mount', '-t', 'overlay', '-o', options, 'overlay', LIBRARIES);
  return () => run('umount', '--lazy', LIBRARIES);
}

const bench = new Bench();
const key = await bench.plug({ model: 'plain', serial: 'FT-0001' });
for (const [library, name] of [
  ['libusb-1.0.so', 'libusb-1.0-0'],
  ['libudev.so', 'libudev1'],
] as const) {
  const restore = hide(library);
  const hid = new HidProcess();
  const { status } = await hid.next('status');
  assert.equal(status.state, 'unavailable');
  assert.ok(status.detail.endsWith(`apt-get install ${name}`), status.detail);
  console.log(`  ${status.detail}`);
  restore();
  assert.equal((await hid.next('attached')).key.serialNumber, 'FT-0001');
  console.log('  installed: the key is reported without a restart');
  assert.equal(await hid.end(), 0);
}
await bench.unplug(key.id);
await bench.end();
