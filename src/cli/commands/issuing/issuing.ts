/** Issues keys from the command line: its flags, the requests to registry and key, and what a person is asked. */
import { pinBounds } from '../../../contract/limits.ts';
import type { ProviderItem } from '../../../contract/providers.ts';
import type { IssueOutcome } from '../../../enrollment/issue-events.ts';
import { IssueProblem, type IssueProblemCode } from '../../../enrollment/issue-step.ts';
import { type IssueParts, type IssueRequests, KeyIssuing, type PinChoice } from '../../../enrollment/issuing.ts';
import { checkFor, pinFaultText } from '../../../enrollment/key-pin.ts';
import { type EnrollmentOutcome, remarked } from '../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../enrollment/registry.ts';
import { issueRequestsBy } from '../../../enrollment/requests.ts';
import { counted } from '../../count.ts';
import { Fault, failure, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { codeOf, recognitionOf, sendBy } from '../../framework/devices/registration.ts';
import type { FlagValues } from '../../framework/flags.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { lockInHome } from '../../jobs/run-lock.ts';
import { askPassword } from '../../terminal/prompt.ts';
import { whileTouched } from '../proofs/prove-key.ts';
import type { issueFlags } from './flags.ts';
import { findProvider } from './flags.ts';
import { digitsOf, pinSealer, randomPin } from './sealed-pin.ts';

/** Frees the terminal while a person is asked. */
export type WhileAsked = <T>(ask: () => Promise<T>) => Promise<T>;

/** The issuing that the flags describe. */
export interface IssuePlan {
  readonly providers: readonly ProviderItem[];
  /** Issues keys as planned. */
  open(whileAsked?: WhileAsked): KeyIssuing;
}

/** Throws a usage fault for wrong flags before anything is sent to a key. `reset`: absent if new keys are expected. */
export async function issuePlan(
  context: Context,
  flags: FlagValues<typeof issueFlags> & { readonly reset?: boolean },
): Promise<IssuePlan> {
  const pin = await pinChoice(context, flags);
  const given = await secretFrom(context, flags.pinFile, { what: 'PIN' });
  // A key that is issued needs none.
  if (flags.reset !== false && pin.kind === 'ask' && given === undefined && !context.canAsk) throw noPin();
  const first = pin.kind === 'random' ? pin.make() : flags.reset ? given : undefined;
  const fault = first === undefined ? null : checkFor(flags.minPin ?? pinBounds.least)(first);
  if (fault !== null) throw unfit(pinFaultText(fault));
  const providers: ProviderItem[] = [];
  for (const named of new Set(flags.provider)) providers.push(await findProvider(context.registry, named));
  return {
    providers,
    open: (whileAsked = ask => ask()) =>
      new KeyIssuing(partsOf(context, given, whileAsked), {
        providers,
        pin,
        changePin: flags.changePin,
        minPinLength: flags.minPin ?? null,
      }),
  };
}

async function pinChoice(context: Context, { pin, pinFile }: FlagValues<typeof issueFlags>): Promise<PinChoice> {
  if (pin === 'none') return { kind: 'none' };
  const digits = digitsOf(pin);
  if (digits === null) return { kind: 'ask' };
  if (pinFile !== undefined) throw usage('both --pin random and --pin-file name a PIN', 'omit one of them');
  // Also before each PIN: a run takes hours, and a recipient may be removed in between.
  await pinSealer(context);
  return {
    kind: 'random',
    make: () => randomPin(digits),
    store: async (deviceId, made) => {
      const seal = await pinSealer(context);
      const body = { sealed: await seal(made), reset: true };
      await context.registry.call('storePin', { params: { deviceId }, body });
    },
  };
}

const unfit = (message: string) => usage(message, 'use another PIN, or --pin random:N');
const noPin = () => usage('the PIN of the key is needed', 'type it at a terminal, or use --pin-file FILE');

function partsOf(context: Context, given: string | undefined, whileAsked: WhileAsked): IssueParts {
  const pinOf = async (ask: () => Promise<string>): Promise<string> => {
    if (given === undefined && !context.canAsk) throw noPin();
    return given ?? whileAsked(ask);
  };
  return {
    requests: issueRequests(context),
    askPin: ({ serialNumber }, retries) => {
      const left = retries === null ? '' : ` (${counted(retries, 'attempt')} left)`;
      return pinOf(() => askPassword(context.out, `PIN of ${serialNumber}${left}`, () => null));
    },
    askNewPin: ({ serialNumber }, check, refusesSimple) =>
      pinOf(async () => {
        const faultOf = (pin: string): string | null => {
          const fault = check(pin);
          return fault && pinFaultText(fault);
        };
        const simple = refusesSimple ? ' and refuses simple ones' : '';
        const pin = await askPassword(context.out, `New PIN of ${serialNumber}, which has none${simple}`, faultOf);
        await askPassword(context.out, 'The same PIN again', again => (again === pin ? null : 'the PINs do not match'));
        return pin;
      }),
  };
}

/** The requests to registry and key; a step of the key may need a touch. */
export function issueRequests(context: Context): IssueRequests {
  const { registry, hardware } = context;
  const requests = issueRequestsBy(sendBy(registry), sendBy(hardware), codeOf, recognitionOf(context));
  return {
    ...requests,
    step: (key, step) => whileTouched(context, key, () => requests.step(key, step)),
    prove: (key, action) => whileTouched(context, key, () => requests.prove(key, action)),
  };
}

/**
 * Runs `work` while no other command of this home issues the key. Two commands would each store a first PIN, and the key accepts only
 * one of them, which may not be the one that was stored last. Rejects with a fault if another command issues it.
 */
export async function whileIssuing<T>(
  context: Context,
  { serialNumber }: NumberedKey,
  work: () => Promise<T>,
): Promise<T> {
  const lock = lockInHome(context, 'issuing', [serialNumber], `the key ${serialNumber}`);
  try {
    return await work();
  } finally {
    lock?.release();
  }
}

/** A row, and the PIN that was made for its letter; null if none was. */
export interface IssuedRow {
  readonly row: EnrollmentOutcome;
  readonly madePin: string | null;
}

/** The key keeps its device and its person if it is not issued: its row has the reason, and counts as failed. */
export async function issuedRow(
  context: Context,
  issuing: KeyIssuing,
  key: NumberedKey,
  row: EnrollmentOutcome,
): Promise<IssuedRow> {
  const { deviceId, status, result } = row;
  const nowhere = { ...row, providers: issuing.nowhere };
  if (deviceId === null || status !== 'ACTIVE' || result === 'failed') return { row: nowhere, madePin: null };
  let outcome: IssueOutcome;
  try {
    outcome = await whileIssuing(context, key, () => issuing.issue(key, deviceId));
  } catch (error) {
    // Another command issues the key, or the lock cannot be written.
    return { row: notIssued(context, nowhere, error), madePin: null };
  }
  const { providers, error, madePin, lacksRules } = outcome;
  const issued = { ...row, providers };
  if (error !== null) return { row: notIssued(context, issued, error, outcome), madePin };
  const noRules = 'this key keeps no rules for its PIN: tell the person what to choose';
  return { row: lacksRules ? remarked(issued, noRules) : issued, madePin };
}

/** Throws the error after Ctrl-C, which ends the run. */
function notIssued(
  { io }: Context,
  row: EnrollmentOutcome,
  error: unknown,
  { isRead, leavesRules }: Pick<IssueOutcome, 'isRead' | 'leavesRules'> = { isRead: true, leavesRules: false },
): EnrollmentOutcome {
  const fault = faultOf(error, row.deviceId!);
  if (io.interrupt.aborted) throw fault;
  const { providers = {} } = row;
  const missing = Object.keys(providers).filter(name => providers[name] === 'missing');
  const issued = missing.length === 0 ? 'not complete' : `not issued at ${missing.join(', ')}`;
  const where = isRead ? issued : 'its credentials cannot be read';
  const rules = leavesRules ? '. The rules for its PIN are not applied yet' : '';
  const why = `${where}: ${wordsOf(fault)}${rules}. Plug it in again to continue`;
  return { ...remarked(row, why), result: 'failed' };
}

/** An error with its hint, on one line. */
export function wordsOf(error: unknown): string {
  const { message } = error as Error;
  const hint = error instanceof Fault ? error.hint : null;
  return hint === null ? message : `${message}; ${hint}`;
}

/** The error of an issuing as this command reports it. */
export function faultOf(error: unknown, deviceId: string): unknown {
  if (!(error instanceof IssueProblem)) return error;
  const { code, message } = error;
  if (code === 'pin-unfit') return unfit(message);
  if (code !== 'pin-present') return new Fault('hardware', message, hints[code] ?? null);
  const letter = `devmgr keys letter ${deviceId} --identity-file FILE`;
  return failure(message, `if it was made before: ${letter}; then use --pin ask, or --pin-file`);
}

const hints: Readonly<Partial<Record<IssueProblemCode, string>>> = {
  'pin-change': 'the person changes it',
  'pin-invalid': 'run the command again with the correct PIN: after a few wrong ones, the key blocks its PIN',
  'pin-replug': 'unplug the key, plug it in and run the command again',
  'pin-not-set': 'give it a PIN: --pin ask or --pin random',
  excluded: 'remove it there, or see devmgr providers reconcile',
};
