import { usage } from '../../fault.ts';
import { type Context, createContext } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { indent } from '../../framework/present.ts';
import { wrapped } from '../../terminal/card.ts';
import { safeProse } from '../../terminal/text.ts';
import { bindingChecks, bindNames } from './bindings.ts';
import { type Check, examine } from './checks.ts';
import { sourceChecks } from './sources.ts';

/** Runs the checks; with --report writes a report, with --fix installs access rules. Exit code 1 if a check fails. */
export const doctor = command({
  runsOnOldNode: true,
  description:
    'Checks this program, the home folder, the daemon, the server, the login and the hardware; for an ADMIN also the directory, single sign-on and the providers. It starts and changes nothing. Exit code 1 if a check fails.\nWith --report it writes the results, versions, settings and the end of the daemon log to a file for support. Secrets, names, hosts and serial numbers are removed. Read the file before you send it.\nWith --fix it installs the udev and polkit rules that give the group devmgr access to keys and readers. It shows the rules, asks for confirmation, and must run as root.',
  args: [{ name: 'FILE', help: 'with --report: file to write; - is standard output', optional: true, offer: 'file' }],
  flags: {
    report: {
      help: 'write a report for support (default: devmgr-report-TIME.txt in this folder)',
      conflicts: ['fix'],
    },
    force: { needs: 'report', help: 'with --report: overwrite an existing file' },
    fix: { help: 'install the rules for keys and readers' },
    'bind-names': {
      conflicts: ['fix', 'report'],
      help: 'bind devices to the user name of an account instead of its id',
    },
    yes: { short: 'y', help: 'with --fix and --bind-names: do not ask for confirmation' },
    root: {
      value: 'DIR',
      offer: 'folder',
      needs: 'fix',
      help: 'with --fix: write below this folder, such as a mounted system image',
    },
  },
  examples: {
    'find problems': 'doctor',
    'for a script': 'doctor --json',
    'for support': 'doctor --report',
    'give a group access to keys': 'doctor --fix',
  },
  async run({ args, flags }, given) {
    if (args[0] !== undefined && !flags.report) throw usage('FILE needs --report');
    if (flags.yes && !flags.fix && !flags.bindNames) throw usage('--yes needs --fix or --bind-names');
    if (flags.bindNames) return bindNames(given, flags.yes);
    if (flags.fix) {
      const { fix } = await import('./fix.ts');
      return fix(given, flags);
    }
    const context = createContext({ ...given, globals: { ...given.globals, autostart: false } });
    const checks = await examine(context);
    if (flags.report) {
      const { report } = await import('./report.ts');
      return report(context, checks, { file: args[0], force: flags.force });
    }
    const isLoggedIn = checks.some(({ name, state }) => name === 'login' && state === 'ok');
    // Not in a report: it names people and servers.
    const all = isLoggedIn ? [...checks, ...(await sourceChecks(context)), ...(await bindingChecks(context))] : checks;
    const failed = all.some(check => check.state === 'failed');
    if (context.globals.json) await context.out.document({ ok: !failed, checks: all });
    else await context.out.text(all.map(check => lines(context, check)).join(''));
    return failed ? 1 : 0;
  },
});

function lines({ io, out }: Context, { name, state, detail, fix }: Check): string {
  const mark =
    state === 'ok' ? out.paint('green', '✓') : state === 'warning' ? out.paint('yellow', '!') : out.paint('red', '✗');
  const before = 13;
  const words = safeProse(detail)
    .split('\n')
    .flatMap(line => wrapped(line, io.columns - before))
    .join(`\n${' '.repeat(before)}`);
  return `${mark} ${out.paint('bold', name.padEnd(10))} ${words}\n${fix && state !== 'ok' ? `    ${out.paint('cyan', '→')} ${indent(indent(indent(safeProse(fix)))).trim()}\n` : ''}`;
}
