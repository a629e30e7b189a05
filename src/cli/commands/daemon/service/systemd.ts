/** A systemd user unit, made from the one in `packaging/systemd`. */
import { join } from 'node:path';
import { marker, runStep, type Service, type ServiceFacts, stepOutput } from './service.ts';

const unit = 'devmgr.service';

/** The daemon as a systemd user unit. `template` is the text of the unit in `packaging/systemd`. */
export function systemdService(facts: ServiceFacts, template: string): Service {
  const config = facts.env.XDG_CONFIG_HOME?.startsWith('/')
    ? facts.env.XDG_CONFIG_HOME
    : join(facts.userHome, '.config');
  const systemctl = (...args: string[]) => ['systemctl', '--user', ...args] as const;
  return {
    system: 'systemd',
    tested: true,
    file: join(config, 'systemd', 'user', unit),
    text: unitText(facts, template),
    encoding: 'utf8',
    probe: systemctl('show-environment'),
    running: systemctl('is-active', '--quiet', unit),
    start: [systemctl('daemon-reload'), systemctl('enable', unit), systemctl('restart', unit)],
    stop: [systemctl('disable', '--now', unit)],
    forget: [systemctl('daemon-reload')],
    later: `log in as this user, then: systemctl --user daemon-reload && systemctl --user enable --now ${unit}\nwithout a login, as root: loginctl enable-linger NAME`,
    log: 'journalctl --user -u devmgr',
  };
}

/** The systemd that runs a process as `devmgr.service`: that of the user or that of the machine. Null if neither does. */
export function systemdOf(pid: number): 'user' | 'machine' | null {
  const runs = (...flags: string[]) =>
    stepOutput(['systemctl', ...flags, 'show', '--property=MainPID', '--value', unit])?.trim() === String(pid);
  if (process.platform !== 'linux') return null;
  return runs('--user') ? 'user' : runs() ? 'machine' : null;
}

/** Restarts the unit of the user with the content of its file. Null if it succeeded, else why not. */
export const restartUnit = (): string | null => runStep(['systemctl', '--user', 'restart', unit]);

function unitText({ program, args, home }: ServiceFacts, template: string): string {
  const [file = '', ...rest] = [...program, 'run', '--home', home, '--json', ...args];
  const line = ['ExecStart=', [quoted(file, ''), ...rest.map(word => quoted(word, '$'))].join(' ')].join('');
  const lines = template.replace(/^(#.*\n)+/, `# ${marker}\n`);
  if (!/^ExecStart=.*$/m.test(lines)) throw new Error('the packaged unit has no ExecStart');
  return lines.replace(/^ExecStart=.*$/m, () => line);
}

/** A word of ExecStart: `%` starts a specifier in every word, `$` a variable in all but the first (systemd.service(5)). */
function quoted(word: string, variable: '' | '$'): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', () => (variable ? '$$' : '$'))
    .replace(/[\u0000-\u001f\u007f]/g, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return /^[\w@+:,./=-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
