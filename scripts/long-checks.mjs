// `npm run test:long`: the long checks, one after the other, and beside them those that wait for most of their time. What follows `--`
// names the checks to run, also those that are off.
// A check that fails runs once more, with its seed; only a second failure counts. The last line is the sum: `N passed, N failed,
// N skipped`; the time of each check stands above it. Under CI what a check needs is installed, and a skipped test is a failure.
// DEVMGR_LONG_SEED chooses the seed.
// DEVMGR_LONG_MINUTES: a check that may take longer than what is left of this time is not started, and is named at the end.
import { prepareFor, wanted } from './lib/machine.mjs';
import { fail, run, say } from './lib/project.mjs';
import { repeatOnce, sumOf } from './lib/repeat-once.ts';
import { listOf, reported } from './lib/test-results.mjs';

const underCi = Boolean(process.env.CI);
const seed = String(process.env.DEVMGR_LONG_SEED ?? Date.now() % 1_000_000_000);

/**
 * `script` is one of package.json, `args` follow it. `packages` are Debian's, each with a program that shows that it is there. A check
 * with `reports` is a run of vitest; the others succeed or fail as a whole. `seed` is the variable or the flag that takes the seed.
 * `minutes`: the longest time on a slow machine with two processors, with the installation of its packages. A check with `waits` leaves
 * most of the two to others, because it waits or emulates one processor, and runs beside them; its output follows when it has ended.
 */
const checks = [
  {
    script: 'test:exhaustive',
    minutes: 18,
    reports: true,
    packages: wanted,
  },
  {
    script: 'test:browser',
    minutes: 13,
    reports: true,
    packages: wanted,
  },
  {
    script: 'test:bin',
    minutes: 4,
    reports: true,
    packages: [
      { debian: 'pcscd', program: 'pcscd' },
      { debian: 'vsmartcard-vpcd', file: '/usr/lib/pcsc/drivers/serial/libifdvpcd.so' },
      { debian: 'libpcsclite1', library: 'libpcsclite.so.1' },
    ],
  },
  {
    script: 'test:deb',
    minutes: 15,
    waits: true,
    reports: true,
    packages: [
      { debian: 'debootstrap', program: 'debootstrap' },
      { debian: 'systemd-container', program: 'systemd-nspawn' },
      { debian: 'lintian', program: 'lintian' },
    ],
  },
  {
    script: 'test:container',
    minutes: 6,
    waits: true,
    reports: true,
    packages: [
      { debian: 'buildah', program: 'buildah' },
      { debian: 'debootstrap', program: 'debootstrap' },
      { debian: 'systemd-container', program: 'systemd-nspawn' },
    ],
  },
  {
    script: 'test:arm64',
    minutes: 6,
    waits: true,
    reports: true,
    packages: [
      { debian: 'qemu-user-static', program: 'qemu-aarch64-static' },
      { debian: 'libc6-arm64-cross', file: '/usr/aarch64-linux-gnu/lib/libc.so.6' },
      { debian: 'libstdc++6-arm64-cross', file: '/usr/aarch64-linux-gnu/lib/libstdc++.so.6' },
      { debian: 'libatomic1-arm64-cross', file: '/usr/aarch64-linux-gnu/lib/libatomic.so.1' },
    ],
  },
  {
    script: 'test:windows',
    minutes: 6,
    waits: true,
    reports: true,
    packages: [
      { debian: 'wine', program: 'wine' },
      { debian: 'wine64', file: '/usr/lib/wine/wine64' },
    ],
  },
  {
    script: 'lighthouse',
    minutes: 4,
    packages: [{ debian: 'chromium', program: 'chromium' }],
  },
  {
    script: 'left-out',
    minutes: 6,
    packages: [],
  },
  {
    script: 'fuzz',
    minutes: 14,
    // A tenth of the inputs of `npm run fuzz`, and of its histories of persons; each run has others.
    env: { DEVMGR_FUZZ_COUNT: '20000', DEVMGR_PERSON_HISTORIES: '1000' },
    seed: { variable: 'DEVMGR_FUZZ_SEED' },
    packages: [{ debian: 'postgresql', folder: '/usr/lib/postgresql' }],
  },
  {
    script: 'test:cluster',
    minutes: 12,
    seed: { flag: '--seed' },
    // It installs its packages itself (tests/cluster/requirements.ts).
    packages: [],
  },
  {
    script: 'test:leavers',
    minutes: 6,
    reports: true,
    // A fifth of the persons of `npm run test:leavers`; each run kills others.
    env: { DEVMGR_LEAVERS: '200' },
    seed: { variable: 'DEVMGR_LEAVERS_SEED' },
    packages: [
      { debian: 'postgresql', folder: '/usr/lib/postgresql' },
      { debian: 'slapd', program: 'slapd' },
      { debian: 'openssl', program: 'openssl' },
    ],
  },
  {
    script: 'test:issuing',
    minutes: 9,
    reports: true,
    // Half of the keys of `npm run test:issuing`; each run kills others.
    env: { DEVMGR_ISSUING_KEYS: '120' },
    seed: { variable: 'DEVMGR_ISSUING_SEED' },
    packages: [{ debian: 'postgresql', folder: '/usr/lib/postgresql' }],
  },
  {
    script: 'test:ad',
    minutes: 13,
    waits: true,
    reports: true,
    packages: [
      { debian: 'samba-ad-dc', program: 'samba' },
      { debian: 'samba-ad-provision', file: '/usr/share/samba/setup' },
      { debian: 'openssl', program: 'openssl' },
    ],
  },
  {
    script: 'test:lab',
    minutes: 30,
    args: ['--quick'],
    packages: [
      { debian: 'qemu-system-x86', program: 'qemu-system-x86_64' },
      { debian: 'e2fsprogs', program: 'mkfs.ext4' },
    ],
    // Without KVM it is an emulation, which takes half an hour, and the KVM of many virtual machines does not boot the guest.
    off: true,
  },
  {
    script: 'crash',
    minutes: 50,
    seed: { variable: 'DEVMGR_CRASH_SEED' },
    packages: [],
    // 200 kills take 20 minutes; `test:exhaustive` has a short run of the same (tests/faults/crash-mixed.test.ts).
    off: true,
  },
];

/** Characters of the end of its output that the sum quotes of a check that failed without a report. */
const MOST_QUOTED = 1000;

const named = process.argv.slice(2);
const unknown = named.find(name => !checks.some(({ script }) => script === name));
if (unknown !== undefined)
  fail(`no long check has the name ${unknown}.`, `The checks: ${checks.map(({ script }) => script).join(', ')}`);
const chosen = checks.filter(({ script, off }) => (named.length > 0 ? named.includes(script) : !off));

const endAt = Date.now() + Number(process.env.DEVMGR_LONG_MINUTES ?? Number.POSITIVE_INFINITY) * 60_000;
const all = [];
const leftOut = [];
/** `NAME N min` of each check that has ended. */
const times = [];
/** Ends when no packages are being installed: dpkg serves one process at a time. */
let installed = Promise.resolve();
const lanes = [chosen.filter(({ waits }) => !waits), chosen.filter(({ waits }) => waits)];
await Promise.all(lanes.map((lane, number) => runLane(lane, number > 0 && lanes[0].length > 0)));
say(`took: ${times.join(', ')}`);
if (leftOut.length > 0) say(`not started, because there is no time left: npm run test:long -- ${leftOut.join(' ')}`);
const failed = all.flatMap(counts => counts.failed);
const skipped = all.flatMap(counts => counts.skipped);
process.stdout.write(`\n${listOf('FAILED', failed)}${underCi ? listOf('skipped', skipped) : ''}${sumOf(all)}\n`);
process.exitCode = failed.length > 0 || (underCi && skipped.length > 0) ? 1 : 0;

/** Runs checks one after the other. With `isBeside` the output of each is written as a whole at its end. */
async function runLane(lane, isBeside) {
  for (const check of lane) {
    if (Date.now() + check.minutes * 60_000 > endAt) {
      leftOut.push(check.script);
      continue;
    }
    const name = check.seed ? `${check.script} (seed ${seed})` : check.script;
    const held = [];
    const write = isBeside ? text => held.push(text) : text => process.stdout.write(text);
    write(`\n── ${name}\n`);
    installed = installed.then(() => prepareFor(check.packages, underCi));
    await installed;
    const started = Date.now();
    all.push(await repeatOnce(name, () => countsOf(check, write), say));
    times.push(`${check.script} ${((Date.now() - started) / 60_000).toFixed(1)} min`);
    process.stdout.write(held.join(''));
  }
}

/** Runs a check once; `write` gets its output. */
async function countsOf({ script, args = [], env = {}, seed: place, reports = false }, write) {
  let end = '';
  const onOutput = text => {
    write(text);
    end = (end + text).slice(-MOST_QUOTED);
  };
  const start = async flags => {
    const more = [...args, ...(place?.flag ? [place.flag, seed] : []), ...flags];
    const seeded = place?.variable ? { [place.variable]: seed } : {};
    const options = { env: { ...process.env, ...env, ...seeded }, onOutput };
    const code = await run('npm', ['run', script, '--', ...more], options);
    // A signal to this process ended it.
    if (code === 130 || code === 143) process.exit(code);
    return code;
  };
  const { code, results } = reports ? await reported(start) : { code: await start([]), results: null };
  const counts = results ?? { passed: code === 0 ? 1 : 0, failed: [], skipped: [] };
  if (code !== 0 && counts.failed.length === 0) counts.failed.push(`${script} (exit code ${code}): …${end.trim()}`);
  return counts;
}
