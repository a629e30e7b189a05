/** Makes the settings of a registry those of a file. */
import { accessSync, constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isListed, secretReference } from '../../../contract/settings-file.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { errorWords, Fault, systemWords, usage } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { yesFlag } from '../../framework/flags.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { makeFolder, smallTextIn, writeNew } from '../../settings/files.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { type Plan, planOf, type Step } from './plan.ts';
import { type FileProblem, readSettings, type SettingsFile } from './read.ts';
import { ChangedInPart, carryOut, type MadeSecret, makesSecret, readRegistry } from './registry.ts';

/** Bytes of a file that is read. */
const mostBytes = 4 * 1024 * 1024;

/** Applies the file. */
export const settingsApply = command({
  description:
    'Shows what differs between the file and the registry, asks, and makes these changes. Everything is checked first: a wrong field or value is reported with its line, and nothing is changed. A second run changes nothing, and after an interruption it continues.\nRecords that the file does not name do not change. With --prune, records that a list in the file does not name are removed: accounts are disabled, tokens revoked, providers and webhooks removed. Secrets are references (env:NAME or file:PATH), and are read only for new entries. New tokens and webhooks get secrets: --secrets-to names the folder for them.',
  args: [{ name: 'FILE', help: 'the file, as settings export writes it', offer: 'file' }],
  flags: {
    'dry-run': { help: 'show what would be done, and change nothing' },
    prune: { help: 'also remove records that the lists in the file do not name' },
    ...yesFlag,
    'secrets-to': {
      value: 'FOLDER',
      offer: 'file',
      help: 'write the secrets of new tokens and webhooks to files here',
    },
  },
  examples: {
    'what would change': 'settings apply registry.yaml --dry-run',
    'ask, then change it': 'settings apply registry.yaml',
    'a second registry like the first one': 'settings apply registry.yaml --secrets-to secrets --yes',
  },
  async run({ args, flags }, context) {
    const { out, globals } = context;
    const [name = ''] = args;
    const { dryRun, prune, yes, secretsTo } = flags;
    if (!yes && !dryRun && !context.canAsk) throw usage('the changes must be confirmed', 'add --yes, or --dry-run');
    const file = fileIn(name);
    const plan = await planFor(context, name, file, prune);
    const { steps } = plan;
    if (dryRun && globals.json) await out.document({ dryRun, changes: steps.map(asJson) });
    else if (dryRun) await out.text(textOf(steps, out.paint));
    if (dryRun) {
      if (secretsTo === undefined && steps.some(makesSecret))
        notify(context, 'New secrets are shown only once: to apply this, name a folder for them with --secrets-to.');
      return;
    }
    if (steps.length > 0) {
      const secrets = await secretsOf(context, name, steps);
      demandFolder(steps, secretsTo);
      if (!yes) {
        out.notice(textOf(steps, out.tint).trimEnd());
        await demandYes(out, `Make ${steps.length === 1 ? 'this change' : `these ${steps.length} changes`}?`);
        await demandSame(await planFor(context, name, file, prune), plan);
      }
      await carryOutAll(context, steps, secrets, secretsTo);
    }
    if (globals.json) await out.document({ dryRun, changes: steps.map(asJson) });
    else if (steps.length === 0) await out.text(unchanged);
    else await out.text(`The registry is as ${safe(name)} describes it.\n`);
  },
});

const unchanged = 'Nothing to change: the registry is as the file describes it.\n';

function fileIn(name: string): SettingsFile {
  const found = readSettings(smallTextIn(name, 'the file', mostBytes));
  if ('file' in found) return found.file;
  throw wrong(name, found.problems);
}

/** At most these problems are shown. */
const mostProblems = 20;

function wrong(name: string, problems: readonly FileProblem[]): Fault {
  const lines = problems.slice(0, mostProblems).map(({ line, message }) => `${safe(name)}, line ${line}: ${message}`);
  const more = problems.length - lines.length;
  return usage(
    [...lines, ...(more > 0 ? [`and ${more} more problems`] : [])].join('\n'),
    'nothing was changed: correct the file and try again',
  );
}

async function planFor(context: Context, name: string, file: SettingsFile, prune: boolean): Promise<Plan> {
  const { registry } = context;
  const { username: ownName } = await registry.call('getOwnUser');
  const plan = planOf(file, await readRegistry(registry), { prune, ownName });
  if (plan.problems.length > 0) throw wrong(name, plan.problems);
  return plan;
}

/** A person has taken time to read the question: other changes than those that were shown are not made. */
function demandSame(now: Plan, shown: Plan): void {
  if (JSON.stringify(now.steps.map(asJson)) !== JSON.stringify(shown.steps.map(asJson)))
    throw new Fault(
      'failure',
      'the registry was changed since the differences were shown: nothing was changed',
      'run the same command again',
    );
}

/** A change as data of the result. */
const asJson = ({ action, row, name, changes }: Step) => ({
  action,
  place: row.place,
  name: isListed(row) ? name : null,
  changes,
});

const marks = { create: '+', update: '~', remove: '-' } as const;
const styles = { create: 'green', update: 'yellow', remove: 'red' } as const;
const named = ({ row, name }: Step): string => safe(isListed(row) ? `${row.words} ${name}` : row.words);

/** The differences, as lines for a person. */
function textOf(steps: readonly Step[], paint: Context['out']['paint']): string {
  if (steps.length === 0) return unchanged;
  const lines = steps.flatMap(step => [
    paint(styles[step.action], `${marks[step.action]} ${named(step)}`),
    ...step.changes.map(({ field, before, after }) =>
      step.action === 'create' ? `    ${field}: ${short(after)}` : `    ${field}: ${short(before)} → ${short(after)}`,
    ),
    ...Object.entries(step.secrets).map(([field, { reference }]) => `    ${field}: ${safe(reference)}`),
  ]);
  return `${lines.join('\n')}\n`;
}

/** Longest value in the differences. */
const longestValue = 120;

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [first = '', ...more] = text.split('\n');
  const isLong = more.length > 0 || first.length > longestValue;
  return safe(isLong ? `${first.slice(0, longestValue)}…` : first);
}

type Secrets = ReadonlyMap<Step, Readonly<Record<string, string>>>;

/** The values of all references, read before anything is changed. */
async function secretsOf(context: Context, name: string, steps: readonly Step[]): Promise<Secrets> {
  const found = new Map<Step, Record<string, string>>();
  const problems: FileProblem[] = [];
  for (const step of steps) {
    const values: Record<string, string> = {};
    for (const [field, { reference, line }] of Object.entries(step.secrets)) {
      const [, variable, path] = secretReference.exec(reference) ?? [];
      try {
        const value =
          path === undefined
            ? context.env[variable ?? '']
            : await secretFrom(context, resolve(dirname(name), path), { mustBePrivate: true });
        if (value) values[field] = value;
        else problems.push({ line, message: `the variable ${variable} of ${named(step)} is not set` });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        problems.push({ line, message: safe(errorWords(error)) });
      }
    }
    found.set(step, values);
  }
  if (problems.length > 0) throw wrong(name, problems);
  return found;
}

/** Refuses if a secret that the registry makes could not be stored: it is shown only once. */
function demandFolder(steps: readonly Step[], folder: string | undefined): void {
  const making = steps.filter(makesSecret);
  if (making.length === 0) return;
  if (folder === undefined)
    throw usage(
      `${named(making[0]!)} gets a secret, which is shown only once`,
      'name a folder for new secrets: --secrets-to FOLDER',
    );
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw usage(`${folder} cannot be used for secrets: ${systemWords(error)}`, 'nothing was changed');
  }
}

async function carryOutAll(
  context: Context,
  steps: readonly Step[],
  secrets: Secrets,
  folder: string | undefined,
): Promise<void> {
  const { registry, out } = context;
  const keep = (step: Step, made: MadeSecret | null) => {
    if (made === null || folder === undefined) return;
    // A server that is taken over must not choose the folder.
    const file = join(folder, `${fileWords(made.id)}-${fileWords(step.name)}`);
    writeNew(file, `${made.secret}\n`, true);
    notify(context, `The secret of ${named(step)} is in ${safe(file)}`);
  };
  for (const [done, step] of steps.entries()) {
    try {
      keep(step, await carryOut(registry, step, secrets.get(step) ?? {}));
    } catch (error) {
      if (error instanceof ChangedInPart) keep(step, error.made);
      throw stopped(context, steps, done, error instanceof ChangedInPart ? error.reason : error);
    }
    notify(context, out.tint(styles[step.action], `${marks[step.action]} ${named(step)}: done`));
  }
}

const fileWords = (name: string): string => name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);

/** The error of a run that ended in the middle: what is done and what is not. */
function stopped(context: Context, steps: readonly Step[], done: number, error: unknown): unknown {
  const [step, ...rest] = steps.slice(done);
  notify(context, context.out.tint('red', `${marks[step!.action]} ${named(step!)}: not done`));
  for (const one of rest) notify(context, `${marks[one.action]} ${named(one)}: not done`);
  if (done === 0 || !(isServerRefusal(error) || error instanceof Fault)) return error;
  const { message, hint } = error;
  const isOwn = error instanceof Fault && error.kind !== 'failure';
  return new Fault(
    isOwn ? error.kind : 'partial',
    `${named(step!)} was not changed: ${message}. ${done} of ${steps.length} changes are done`,
    `${hint ? `${hint}; then ` : ''}run the same command again: it continues with the others`,
  );
}
