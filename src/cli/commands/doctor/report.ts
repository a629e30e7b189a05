/** The report for support: what is needed to understand a problem, without secrets and personal data. */
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { homedir, hostname, totalmem, userInfo } from 'node:os';
import { join } from 'node:path';
import { homeFiles } from '../../../contract/local.ts';
import { settingVariables } from '../../../contract/setting-words.ts';
import { errorWords, isFault, systemWords, tryOr } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { about, aboutText } from '../../framework/version.ts';
import { daemonMissing, findDaemon } from '../../session/local-daemon.ts';
import { profilesWithLogin, readLoginName } from '../../settings/credentials.ts';
import { writeNew } from '../../settings/files.ts';
import { readConfig } from '../../settings/profiles.ts';
import { safeProse } from '../../terminal/text.ts';
import { lastLines } from '../daemon/logs.ts';
import type { Check } from './checks.ts';
import { Redactor } from './redact.ts';

const logLines = 200;

/** System users that are not persons; their names are ordinary words in a text. */
const systemUsers: ReadonlySet<string | null> = new Set(['root', 'nobody', 'devmgr', 'daemon']);

const preface = `Read this report before you send it. Passwords, tokens, keys and activation codes were removed. Names of users, hosts
and home folders, and serial numbers, were replaced by marks such as host-3f2a9c: the same thing has the same mark in this
report, and a different one in the next. The report does not contain devices, users or the journal of the registry.`;

/** Where the report is written. */
interface Options {
  /** Undefined: a name with the time, in this folder. `-`: standard output. */
  readonly file: string | undefined;
  readonly force: boolean;
}

/** Writes the report and resolves to the exit code: 0, even if checks failed. */
export async function report(context: Context, checks: readonly Check[], { file, force }: Options): Promise<number> {
  const redactor = await createRedactor(context);
  const text = safeProse(await compose(context, checks, redactor));
  if (file === '-') {
    await context.out.text(text);
    return 0;
  }
  const name = file ?? `devmgr-report-${new Date().toISOString().replace(/[:.]\d*/g, '')}.txt`;
  writeNew(name, text, force);
  if (context.globals.json) await context.out.document({ file: name, size: Buffer.byteLength(text) });
  else if (context.globals.quiet) await context.out.text(`${name}\n`);
  else
    await context.out.text(
      `Written to ${name}. Read it before you send it: it is plain text, and shows what was removed.\n`,
    );
  return 0;
}

/** A redactor that knows the secrets and names of this home. */
async function createRedactor(context: Context): Promise<Redactor> {
  const { settings, env } = context;
  const redactor = new Redactor();
  for (const secret of secretsOf(settings.home)) redactor.know('secret', secret);
  redactor.know('secret', settings.token);
  for (const { name, isSecret } of settingVariables()) if (isSecret) redactor.know('secret', env[name]);
  redactor.replace(tryOr(homedir, null), '~');
  const user = tryOr(() => userInfo().username, null);
  if (!systemUsers.has(user)) redactor.replace(user, 'USER');
  if (hostname() !== 'localhost') redactor.replace(hostname(), 'HOST');
  redactor.know('user', settings.username);
  for (const profile of profilesWithLogin(settings.home))
    redactor.know('user', readLoginName({ ...settings, profile }, context.identity()));
  for (const serial of await attachedSerials(context)) redactor.know('serial', serial);
  return redactor;
}

/** Contents of the private files in the home folder. */
function secretsOf(home: string): string[] {
  const files = ['signingKey', 'journalKey', 'instanceKey', 'initialPassword', 'localToken', 'credentials'] as const;
  return files.flatMap(name => {
    const text = tryOr(() => readFileSync(join(home, homeFiles[name]), 'utf8'), '');
    const tokens = [...text.matchAll(/"token"\s*:\s*"([^"]+)"/g)].map(([, token]) => token!);
    return name === 'credentials' ? tokens : [text.trim()];
  });
}

async function attachedSerials(context: Context): Promise<string[]> {
  try {
    const { list } = await context.hardware.call('listKeys');
    return list.flatMap(key => (key.serialNumber === null ? [] : [key.serialNumber]));
  } catch (error) {
    if (isFault(error, 'interrupted')) throw error;
    return [];
  }
}

async function compose(context: Context, checks: readonly Check[], redactor: Redactor): Promise<string> {
  const { home } = context.settings;
  const sections: readonly (readonly [string, string])[] = [
    ['Program', aboutText(about())],
    ['System', systemText()],
    ['Settings', json(settingsOf(context, redactor))],
    ['Environment', environmentText(context, redactor)],
    ['Home folder', homeText(home, redactor)],
    ['Checks', checks.map(check => checkText(check, redactor)).join('')],
    ['Health of the daemon', json(await healthOf(context, redactor))],
    [`Daemon log, last ${logLines} lines`, logText(home, redactor)],
  ];
  const parts = sections.map(([title, text]) => `== ${title}\n\n${text.trimEnd()}\n`);
  return [`Report of devmgr, ${new Date().toISOString()}\n`, `${preface}\n`, ...parts].join('\n');
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

function systemText(): string {
  const osRelease = tryOr(() => readFileSync('/etc/os-release', 'utf8'), '');
  const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease)?.[1];
  const memory = `${Math.round(totalmem() / 2 ** 20)} MiB of memory`;
  const user = process.getuid?.() === 0 ? 'run as root' : 'run as a user';
  return [name, memory, user, `terminal: ${process.stderr.isTTY === true}`].filter(Boolean).join('\n');
}

function settingsOf({ settings, globals }: Context, redactor: Redactor): unknown {
  const { profile, server, serverFrom, hardware, ca, username, printer, token } = settings;
  const profiles = tryOr(() => Object.values(readConfig(settings.home).profiles), []);
  return {
    home: redactor.text(settings.home),
    profile: profile === 'default' ? profile : redactor.mark('text', profile),
    server: server && redactor.text(server),
    serverFrom,
    hardware: hardware && redactor.text(hardware),
    ca: ca !== null,
    username: username && redactor.mark('user', username),
    printer: printer && printerText(printer, redactor),
    tokenFromEnvironment: token !== null,
    profiles: profiles.map(stored => Object.keys(stored)),
    hasLogin: tryOr(() => profilesWithLogin(settings.home).includes(profile), false),
    verbose: globals.verbose,
  };
}

/** `lp` and the port as they are; marks for a host and a queue. Other parts of an address, such as a password, are left out. */
function printerText(printer: string, redactor: Redactor): string {
  if (printer === 'lp') return printer;
  if (printer.startsWith('lp:')) return `lp:${redactor.mark('text', printer.slice(3))}`;
  const url = URL.parse(`tcp://${printer}`);
  if (url === null || url.hostname === '') return redactor.mark('text', printer);
  return `${redactor.value('host', url.hostname)}${url.port === '' ? '' : `:${url.port}`}`;
}

const environmentShown = /^(DEVMGR_LIMIT_\w+|DEVMGR_TRAFFIC|DEVMGR_NO_KEYCHAIN|LANG|LC_ALL|TERM|TZ|NO_COLOR)$/;
const environmentPaths = /^(DEVMGR_HOME|DEVMGR_SERVER|HOME|TMPDIR|XDG_\w+|PATH)$/;
const environmentNamed = /^(DEVMGR_\w+|NODE_\w+|HTTPS?_PROXY|NO_PROXY|SSL_CERT_\w+|PCSCLITE_\w+|LD_\w+)$/i;

/** Values that cannot contain a secret; otherwise only the name of the variable. */
function environmentText({ env }: Context, redactor: Redactor): string {
  const lines = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (environmentShown.test(name) || environmentPaths.test(name)) return [`${name}=${redactor.text(value)}`];
    return environmentNamed.test(name) ? [`${name} is set`] : [];
  });
  return lines.sort().join('\n');
}

function homeText(home: string, redactor: Redactor): string {
  try {
    const known = new Set<string>(Object.values(homeFiles));
    const names = readdirSync(home).filter(name => known.has(name) || /^(devmgr\.db|blobs|daemon\.)/.test(name));
    const others = readdirSync(home).length - names.length;
    return [
      describe(home, redactor.text(home)),
      ...names.sort().map(name => describe(join(home, name), name)),
      `${others} others`,
    ].join('\n');
  } catch (error) {
    return `${redactor.text(home)}: ${systemWords(error)}`;
  }
}

function describe(file: string, shown: string): string {
  const stat = lstatSync(file);
  const { mode, size, uid } = stat;
  const kind = stat.isDirectory() ? 'd' : stat.isSymbolicLink() ? 'l' : stat.isFile() ? '-' : '?';
  const owner = process.getuid === undefined || uid === process.getuid() ? '' : ' of another user';
  return `${kind} ${(mode & 0o7777).toString(8).padStart(4, '0')} ${String(size).padStart(12)} ${shown}${owner}`;
}

function checkText({ name, state, detail, fix }: Check, redactor: Redactor): string {
  const advice = fix && state !== 'ok' ? `    ${redactor.text(fix).replaceAll('\n', '\n    ')}\n` : '';
  return `${state.padEnd(8)} ${name}: ${redactor.text(detail)}\n${advice}`;
}

async function healthOf({ settings, io, registry }: Context, redactor: Redactor): Promise<unknown> {
  try {
    const local = await findDaemon(settings.home, io.interrupt);
    if (local) return redactor.object(local);
    return settings.server === null
      ? redactor.text(daemonMissing(settings.home).what)
      : redactor.object(await registry.call('getHealth', {}));
  } catch (error) {
    if (isFault(error, 'interrupted')) throw error;
    return redactor.text(errorWords(error));
  }
}

function logText(home: string, redactor: Redactor): string {
  const text = tryOr(() => lastLines(join(home, homeFiles.log), logLines).text, '') || journalOfService();
  if (text === '') return 'There is no log: a daemon in the foreground writes to its own output.';
  return text
    .trimEnd()
    .split('\n')
    .map(line => redactor.logLine(line))
    .join('\n');
}

/** The log of the user service; empty if there is none. */
function journalOfService(): string {
  const call = ['--user', '--unit=devmgr', `--lines=${logLines}`, '--output=cat', '--quiet', '--no-pager'];
  return spawnSync('journalctl', call, { encoding: 'utf8', timeout: 5_000 }).stdout ?? '';
}
