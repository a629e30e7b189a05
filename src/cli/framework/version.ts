/** The versions of the program and its parts. Loads no native module, so that `--version` always works, and at once. */
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { failure } from '../fault.ts';
import { safe } from '../terminal/text.ts';

declare const DEVMGR_VERSION: string | undefined;
declare const DEVMGR_BUILD: Build | undefined;

/** Set by the build; `0.0.0-source` if the program runs from its sources. */
const version = typeof DEVMGR_VERSION === 'string' ? DEVMGR_VERSION : '0.0.0-source';

interface Build {
  /** Null if it was not built in a clone. */
  readonly commit: string | null;
  /** Whether the sources differed from the commit. */
  readonly changed: boolean;
  /** Day of the commit, YYYY-MM-DD. */
  readonly date: string | null;
  readonly sqlite: string | null;
  /** Versions of the native packages at the time of the build. */
  readonly packages: Readonly<Record<string, string>>;
}

/** The versions of this copy of the program. */
interface AboutProgram {
  readonly name: 'devmgr';
  readonly version: string;
  readonly form: 'executable' | 'package' | 'sources';
  readonly build: Pick<Build, 'commit' | 'changed' | 'date'> | null;
  readonly node: string;
  /** Null if it cannot be known without loading the library. */
  readonly sqlite: string | null;
  /** Versions of the packages with native code; null if one is not installed. */
  readonly packages: Readonly<Record<string, string | null>>;
  readonly platform: string;
  readonly arch: string;
  /** Release of the kernel. */
  readonly release: string;
}

const nativePackages = ['better-sqlite3', 'node-hid', 'usb', 'pcsc-mini', '@napi-rs/keyring'] as const;

/** The versions of this copy. Reads the `package.json` of the native packages. */
export function about(): AboutProgram {
  const build = typeof DEVMGR_BUILD === 'object' ? DEVMGR_BUILD : null;
  const isExecutable = process.getBuiltinModule('node:sea').isSea();
  const versionOf = (name: string) => (isExecutable ? (build?.packages[name] ?? null) : installedVersion(name));
  const packages = Object.fromEntries(nativePackages.map(name => [name, versionOf(name)]));
  const isSqliteOfBuild = packages['better-sqlite3'] === build?.packages['better-sqlite3'];
  return {
    name: 'devmgr',
    version,
    form: isExecutable ? 'executable' : build ? 'package' : 'sources',
    build: build && { commit: build.commit, changed: build.changed, date: build.date },
    node: process.versions.node,
    sqlite: build && isSqliteOfBuild ? build.sqlite : null,
    packages,
    platform: process.platform,
    arch: process.arch,
    release: release(),
  };
}

/** npm may have installed a later version since the build. */
function installedVersion(name: string): string | null {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    try {
      const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
      const { version } = JSON.parse(text) as { version?: unknown };
      return typeof version === 'string' ? version : null;
    } catch {
      if (dirname(folder) === folder) return null;
    }
  }
}

/** The first line is `devmgr VERSION`; one line per part follows. */
export function aboutText(facts: AboutProgram): string {
  const missing = facts.form === 'executable' ? 'not included' : 'not installed';
  const rows = [
    ['build', buildWords(facts)],
    ['Node', facts.node],
    ['SQLite', facts.sqlite ?? 'as in better-sqlite3'],
    ...Object.entries(facts.packages).map(([name, found]) => [name, found ?? missing]),
    ['platform', `${facts.platform} ${facts.arch} (${facts.release})`],
  ];
  return [
    `devmgr ${facts.version}`,
    ...rows.map(([label = '', words = '']) => `${label.padEnd(18)}${safe(words)}`),
    '',
  ].join('\n');
}

const formWords = { executable: 'single executable', package: 'for Node', sources: 'from the sources' } as const;

function buildWords({ build, form }: AboutProgram): string {
  if (build === null) return formWords[form];
  const commit = build.commit === null ? 'unknown commit' : `${build.commit}${build.changed ? ' with changes' : ''}`;
  return [commit, build.date, formWords[form]].filter(Boolean).join(', ');
}

/** The oldest Node that the native packages support: with an earlier one the daemon would crash without a message. */
export const leastNode = '22.19';

/** Whether the program runs with this version of Node. */
export function isNodeSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastNode.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** Throws if Node is too old. */
export function checkNode(version: string): void {
  if (isNodeSupported(version)) return;
  throw failure(
    `Node ${version} is too old`,
    `install Node ${leastNode} or later, or use the executable, which contains Node`,
  );
}
