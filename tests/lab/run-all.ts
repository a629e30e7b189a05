/**
 * Builds the guest if necessary and runs the scenarios in it: `node tests/lab/run-all.ts [--quick] [NAME…]`. `--quick` plugs
 * a tenth of the keys. Without names every scenario runs. Fails if one fails.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type GuestOptions, runInGuest } from './vm.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
const often = (times: number): number => (values.quick === true ? Math.ceil(times / 10) : times);

interface Scenario {
  readonly name: string;
  readonly what: string;
  readonly script: string;
  readonly guest?: GuestOptions;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'keys', what: 'serial and source of each model of key', script: 'keys.ts' },
  {
    name: 'prove',
    what: `${often(20)} proofs by SCP11b, from plugging to the verdict`,
    script: `prove.ts ${often(20)}`,
  },
  {
    name: 'touch',
    what: 'devmgr keys verify with keys that want a touch: given, canceled, pulled out',
    script: 'touch.ts',
  },
  { name: 'judges', what: 'fido2-tools and python3-fido2 on the emulated authenticator', script: 'judges.ts' },
  { name: 'crowd', what: 'twenty keys at once, equal serials, a key plugged in again', script: 'crowd.ts' },
  { name: 'permission', what: 'a normal user without the udev rule, and a late udev', script: 'permission.ts' },
  { name: 'library', what: 'libusb and libudev missing', script: 'missing-library.ts', guest: { pcscd: false } },
  {
    name: 'usb',
    what: `${often(200)} pluggings of USB keys in random order`,
    script: `usb-storm.ts ${often(200)}`,
    guest: { pcscd: false },
  },
  {
    name: 'no-udevd',
    what: `${often(50)} pluggings without udevd`,
    script: `usb-storm.ts ${often(50)}`,
    guest: { udevd: false, pcscd: false },
  },
  {
    name: 'enroll',
    what: `${often(200)} pluggings and ${often(50)} SIMs through the built program`,
    script: `enroll.ts ${often(200)} ${often(50)}`,
  },
  {
    name: 'roster',
    what: `${often(200)} people of a roster, each with the right key, among keys pulled out early, doubled, foreign and unreadable`,
    script: `roster.ts ${often(200)}`,
    guest: { limit: 1800 },
  },
  {
    name: 'issue',
    what: `${often(20)} keys by enroll --for at two providers, beside ${2 * often(20)} without it`,
    script: `issue.ts ${often(20)}`,
  },
  {
    name: 'identity',
    what: `${often(200)} keys of one model without a serial number at two stations, over USB and NFC, among 100,000 devices`,
    script: `identity.ts ${often(200)}`,
    guest: { limit: 1800 },
  },
  { name: 'sims', what: `${often(50)} insertions of SIMs`, script: `sim-storm.ts ${often(50)}` },
];

const chosen = SCENARIOS.filter(one => positionals.length === 0 || positionals.includes(one.name));
if (chosen.length === 0) {
  console.error(`no such scenario; there are: ${SCENARIOS.map(one => one.name).join(', ')}`);
  process.exit(2);
}
const built = spawnSync(fileURLToPath(new URL('build', import.meta.url)), { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

/** The exit status of a process that was ended by SIGSEGV. */
const CRASHED = 139;
const failed: string[] = [];
for (const { name, what, script, guest } of chosen) {
  console.log(`${name}: ${what}`);
  const status = await runInGuest(`node tests/lab/scenarios/${script}`, { limit: 900, ...guest });
  console.log(status === 0 ? '  passed' : `  FAILED with status ${status}`);
  if (status === CRASHED) console.log('  node itself crashed, which happens under emulation: see README.md');
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'All passed.' : `Failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
