/** What this copy of the program is made of. Nothing native is loaded for it: `--version` answers at once, and always. */
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { safe } from './terminal/text.ts';

declare const DEVMGR_VERSION: string | undefined;
declare const DEVMGR_BUILD: Build | undefined;

/** Set by the build; a run from the sources is named as such. */
export const version = typeof DEVMGR_VERSION === 'string' ? DEVMGR_VERSION : '0.0.0-source';

interface Build {
  /** Null where it was not built in a clone. */
  readonly commit: string | null;
  /** Whether sources differed from the commit. */
  readonly changed: boolean;
  /** Day of the commit, YYYY-MM-DD. */
  readonly date: string | null;
  readonly sqlite: string | null;
  /** Versions of the native packages at the time of the build. */
  readonly packages: Readonly<Record<string, string>>;
}

export interface About {
  readonly name: 'devmgr';
  readonly version: string;
  readonly form: 'executable' | 'package' | 'sources';
  readonly build: Pick<Build, 'commit' | 'changed' | 'date'> | null;
  readonly node: string;
  /** Null where it cannot be known without loading it. */
  readonly sqlite: string | null;
  /** Versions of the packages with native code; null where one is not installed. */
  readonly packages: Readonly<Record<string, string | null>>;
  readonly platform: string;
  readonly arch: string;
  /** Of the system's kernel. */
  readonly release: string;
}

const nativePackages = ['better-sqlite3', 'node-hid', 'usb', 'pcsc-mini', '@napi-rs/keyring'] as const;

export function about(): About {
  const build = typeof DEVMGR_BUILD === 'object' ? DEVMGR_BUILD : null;
  const isExecutable = process.getBuiltinModule('node:sea').isSea();
  const versionOf = (name: string) => (isExecutable ? (build?.packages[name] ?? null) : installedVersion(name));
  const packages = Object.fromEntries(nativePackages.map(name => [name, versionOf(name)]));
  const sqliteIsThatOfBuild = packages['better-sqlite3'] === build?.packages['better-sqlite3'];
  return {
    name: 'devmgr',
    version,
    form: isExecutable ? 'executable' : build ? 'package' : 'sources',
    build: build && { commit: build.commit, changed: build.changed, date: build.date },
    node: process.versions.node,
    sqlite: build && sqliteIsThatOfBuild ? build.sqlite : null,
    packages,
    platform: process.platform,
    arch: process.arch,
    release: release(),
  };
}

/** npm may have put a later version in place than the one that was there at the build. */
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

/** The first line is `devmgr VERSION`; a line for each part follows. */
export function aboutText(facts: About): string {
  const rows = [
    ['build', buildWords(facts)],
    ['Node', facts.node],
    ['SQLite', facts.sqlite ?? 'that of better-sqlite3'],
    ...Object.entries(facts.packages).map(([name, found]) => [name, found ?? 'not installed']),
    ['platform', `${facts.platform} ${facts.arch} (${facts.release})`],
  ];
  return [
    `devmgr ${facts.version}`,
    ...rows.map(([label = '', words = '']) => `${label.padEnd(18)}${safe(words)}`),
    '',
  ].join('\n');
}

const formWords = { executable: 'single executable', package: 'for Node', sources: 'run from its sources' } as const;

function buildWords({ build, form }: About): string {
  if (build === null) return formWords[form];
  const commit =
    build.commit === null ? 'of no known commit' : `${build.commit}${build.changed ? ' with changes' : ''}`;
  return [commit, build.date, formWords[form]].filter(Boolean).join(', ');
}
