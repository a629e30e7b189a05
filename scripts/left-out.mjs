// `npm run left-out`: each part that a registry can do without (subjects, engines, the console) is left out of a copy of the sources,
// with the subjects that need it, and then all of them. The types must be right without it, and the daemon must start, register a
// device and list it. Prints a table of what each takes; with `-- --write`, also into docs/architecture.md. Names after `--` choose parts.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { residentMiB, settled, startDaemon } from '../benchmarks/processes.ts';
import { engines, optional as optionalSubjects } from './lib/import-rules.ts';
import { foldersOf, lists, withNeeders, without } from './lib/left-out.ts';
import { fail, modules, node, root, run } from './lib/project.mjs';

const { values, positionals } = parseArgs({ options: { write: { type: 'boolean' } }, allowPositionals: true });
const optional = [...optionalSubjects, ...Object.keys(engines)];
const unknown = positionals.find(name => !optional.includes(name));
if (unknown !== undefined) fail(`there is no part ${unknown}.`, `These parts can be left out: ${optional.join(', ')}.`);

/** Figures for the page are the median of several starts; a check needs one. */
const STARTS = values.write ? 5 : 1;
const page = join(root, 'docs', 'architecture.md');
const marked = /(<!-- left-out -->\n)[\s\S]*(\n<!-- \/left-out -->)/;

const sources = ['bin', 'src', 'daemon', 'drivers', 'console', 'scripts', 'assets'];
const files = ['LICENSE', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Lines of TypeScript below folders; a file counts once. */
function linesOf(folders) {
  const found = new Set(folders.flatMap(folder => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })));
  const lines = [...found].map(file => readFileSync(join(root, file), 'utf8').split('\n').length - 1);
  return lines.reduce((sum, count) => sum + count, 0);
}

/** Folders of the program. */
const product = sources.slice(0, 5);

const median = all => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];

/** Resolves with the row of the table. */
async function leaveOut(label, names) {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-left-out-'));
  try {
    const tracked = execFileSync('git', ['ls-files', '-z', '--', ...sources, ...files], {
      cwd: root,
      encoding: 'utf8',
    });
    for (const file of tracked.split('\0').filter(Boolean)) cpSync(join(root, file), join(folder, file));
    symlinkSync(modules, join(folder, 'node_modules'), 'junction');
    const folders = names.flatMap(foldersOf);
    for (const gone of globSync(folders, { cwd: folder })) rmSync(join(folder, gone), { recursive: true, force: true });
    for (const list of globSync(lists, { cwd: folder }).map(file => join(folder, file)))
      writeFileSync(list, without(readFileSync(list, 'utf8'), names));
    const compilerOptions = { incremental: false, tsBuildInfoFile: null };
    const types = { extends: './tsconfig.json', compilerOptions, include: product.slice(0, 4), exclude: [] };
    writeFileSync(join(folder, 'left-out.json'), JSON.stringify(types));
    const codes = await Promise.all([
      run(join(modules, '.bin', 'tsc'), ['--checkers', '1', '-p', 'left-out.json'], { cwd: folder }),
      run(node, ['scripts/build.mjs'], { cwd: folder }),
    ]);
    if (codes.some(code => code !== 0)) throw new Error(`without ${names.join(', ')}: see the messages above`);
    const gone = names.filter(name => name !== label);
    const lines = linesOf(folders);
    const { startMs, memory } = await measured(folder);
    return [
      label,
      optional.includes(label) ? gone.join(', ') || '–' : '–',
      lines.toLocaleString('en'),
      (linesOf(product) - lines).toLocaleString('en'),
      startMs.toFixed(0),
      memory.toFixed(1),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Uses the daemon once, and starts it some times more. */
async function measured(folder) {
  const home = join(folder, 'home');
  const options = { built: join(folder, 'dist', 'devmgr.cjs'), env: { XDG_CACHE_HOME: join(folder, 'cache') } };
  await whileRunning(await startDaemon(home, options), async daemon => {
    const device = { deviceType: 'UKEY', serialNumber: 'LEFT-OUT-1', manufacturer: 'none', model: 'none' };
    const registered = await daemon.call('POST', '/api/devices/register', device);
    const { data } = await daemon.call('GET', '/api/devices/list');
    if (registered.status !== 200 || data.list[0]?.serialNumber !== device.serialNumber)
      throw new Error(`a device could not be registered and listed: ${JSON.stringify({ registered, data })}`);
  });
  const starts = [];
  for (let i = 0; i < STARTS; i++) {
    await whileRunning(await startDaemon(home, options), async ({ pid, startMs }) => {
      await settled(pid);
      starts.push({ startMs, memory: await residentMiB(pid) });
    });
  }
  return { startMs: median(starts.map(one => one.startMs)), memory: median(starts.map(one => one.memory)) };
}

async function whileRunning(daemon, use) {
  try {
    await use(daemon);
  } finally {
    await daemon.stop();
  }
}

const rows = [];
const show = cells => {
  rows.push(`| ${cells.join(' | ')} |`);
  process.stdout.write(`${rows.at(-1)}\n`);
};
show(['left out', 'with it', 'lines', 'left', 'start, ms', 'memory, MiB']);
show(['---', '---', '--:', '--:', '--:', '--:']);
show(await leaveOut('nothing', []));
for (const name of positionals.length > 0 ? positionals : optional) show(await leaveOut(name, withNeeders(name)));
if (positionals.length === 0) show(await leaveOut('all of them', optional));
if (values.write) writeFileSync(page, readFileSync(page, 'utf8').replace(marked, `$1\n${rows.join('\n')}\n$2`));
