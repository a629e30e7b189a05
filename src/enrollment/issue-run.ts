/**
 * The issuing of one key as a state machine: what the registry, the key and the person answer goes in, and what to ask next comes out.
 * Each action has one answer, or fails.
 */
import type { CredentialItem } from '../contract/providers.ts';
import type {
  Failed,
  IssueAction,
  IssueEvent,
  IssueOptions,
  IssueOutcome,
  IssueProvider,
  MadeCredential,
  StartedCredential,
} from './issue-events.ts';
import { IssueProblem, type IssueStep, type KeyPinState, type StepAnswer } from './issue-step.ts';
import { columnOf } from './outcome.ts';

/** The memory of the PIN of a key from one run to the next. */
export interface PinMemory {
  /** The first PIN of a key that is not issued yet: a key that was pulled continues with its own. */
  readonly pin: string | null;
  /** Whether an outcome has had it for its letter. The key can have got the PIN although the answer was lost. */
  readonly isLettered: boolean;
  /** A wrong PIN, and what it was refused with: it is not entered again. */
  readonly wrong: { readonly pin: string; readonly error: unknown } | null;
}

/** The answer that the run waits for. `opening`: the state of the PIN of a key. */
type IssuePhase =
  | { readonly at: 'reading' | 'rereading' | 'opening' | 'starting' | 'ruling' | 'over' }
  | { readonly at: 'asking'; readonly state: KeyPinState }
  | { readonly at: 'setting'; readonly state: KeyPinState; readonly pin: string }
  | { readonly at: 'creating'; readonly credentialId: string }
  | { readonly at: 'finishing'; readonly finish: Extract<IssueAction, { type: 'finish' }>; readonly attempt: number }
  /** The start or the registration has failed. */
  | { readonly at: 'looking up' | 'forgetting'; readonly failed: Failed };

/** Where the issuing of a key is. */
export interface IssueRun {
  readonly serialNumber: string;
  readonly options: IssueOptions;
  readonly phase: IssuePhase;
  readonly outcome: IssueOutcome;
  readonly memory: PinMemory;
  /** Where the key is missing; the first is next. */
  readonly open: readonly IssueProvider[];
  /** The PIN that the key is used with, null if it has none, and its state before. */
  readonly key: { readonly pin: string | null; readonly state: KeyPinState } | null;
}

/** The run after an event, and what to do next; null if it is over. */
export type IssueTurn = readonly [run: IssueRun, action: IssueAction | null];

/** The failure of a key. */
export const failureOf = (error: IssueProblem): Failed => ({ type: 'failed', error, isRefusal: false, isLost: false });

/** How often one response of a key is sent to the registry: responses can be lost. */
const ATTEMPTS = 3;
const noPin = { pin: null, isLettered: false };
const noMemory: PinMemory = { ...noPin, wrong: null };

/** The state of a key that is issued at no provider. */
export const nowhere = ({ providers }: Pick<IssueOptions, 'providers'>): IssueOutcome['providers'] =>
  Object.fromEntries(providers.map(one => [columnOf(one), 'missing']));

/** Begins with a key whose device is ACTIVE. */
export function begun(options: IssueOptions, serialNumber: string, memory: PinMemory = noMemory): IssueTurn {
  const outcome: IssueOutcome = {
    providers: nowhere(options),
    isRead: false,
    wasIssued: false,
    madePin: null,
    lacksRules: false,
    leavesRules: hasRules(options),
    pin: null,
    error: null,
    errors: {},
  };
  const phase = { at: 'reading' } as const;
  return [{ serialNumber, options, phase, outcome, memory, open: [], key: null }, { type: 'read credentials' }];
}

/** Takes the answer to the last action. */
export function taken(run: IssueRun, event: IssueEvent): IssueTurn {
  const { phase } = run;
  switch (event.type) {
    case 'failed':
      return failed(run, event);
    case 'credentials':
      return read(run, event.credentials);
    case 'PIN':
      if (phase.at !== 'asking') return [run, null];
      return (phase.state.isSet ? opened : setPin)(run, phase.state, event.pin);
    case 'started':
      return create(run, event.started);
    case 'step':
      return stepped(run, event.answer);
    default:
      return issued(run);
  }
}

/** The run waits for the answer to the action. */
const wait = (run: IssueRun, phase: IssuePhase, action: IssueAction | null): IssueTurn => [{ ...run, phase }, action];

const step = (run: IssueRun, phase: IssuePhase, one: IssueStep): IssueTurn =>
  wait(run, phase, { type: 'step', step: one });

/** Takes the credentials that the registry has; a reset that was interrupted is settled first. */
function read(run: IssueRun, credentials: readonly CredentialItem[]): IssueTurn {
  const { options, phase } = run;
  const isMissing = ({ providerId }: IssueProvider): boolean =>
    !credentials.some(one => one.providerId === providerId && one.removedAt === null && !one.pending);
  // A lost answer can turn out to have been an acceptance.
  if (phase.at === 'looking up') return isMissing(run.open[0]!) ? missing(run, phase.failed) : issued(run);
  if (phase.at === 'reading' && credentials.some(one => one.reset === true))
    return wait(run, { at: 'rereading' }, { type: 'settle reset' });
  const open = options.providers.filter(isMissing);
  const found = options.providers.filter(one => !isMissing(one)).map(one => [columnOf(one), 'issued']);
  const providers = { ...run.outcome.providers, ...Object.fromEntries(found) };
  const next = { ...run, open, outcome: { ...run.outcome, providers, isRead: true, wasIssued: open.length === 0 } };
  return open.length > 0 || hasRules(options) ? step(next, { at: 'opening' }, { step: 'state' }) : wasIssued(next);
}

/** Nothing is left to do. */
const wasIssued = (run: IssueRun): IssueTurn =>
  wait({ ...run, outcome: { ...run.outcome, leavesRules: false } }, { at: 'over' }, null);

function stepped(run: IssueRun, { state, response, hasAny }: StepAnswer): IssueTurn {
  const { phase } = run;
  switch (phase.at) {
    case 'opening':
      if (run.outcome.wasIssued && !lacksRules(run, state)) return wasIssued(run);
      return state === null
        ? over(run, new IssueProblem('protocol', 'the key does not report its PIN'))
        : open(run, state);
    case 'setting':
      return opened(run, phase.state, phase.pin, run.options.pin.kind === 'random');
    case 'creating':
      return response === null
        ? failed(run, failureOf(new IssueProblem('protocol', 'the key has made no credential')))
        : finish(run, finishOf(phase.credentialId, { response, ...(hasAny ? { reported: true } : {}) }), 1);
    case 'forgetting':
      return missing(run, phase.failed);
    default:
      return over(run);
  }
}

/** The PIN of the key; it gets a first PIN if it has none. */
function open(run: IssueRun, state: KeyPinState): IssueTurn {
  const { memory, options } = run;
  const isRandom = options.pin.kind === 'random';
  if (state.isSet) {
    const problem = unusable(state);
    if (problem !== null) return over(run, problem);
    if (memory.pin !== null) return opened(run, state, memory.pin, isRandom && !memory.isLettered);
    if (!isRandom) return wait(run, { at: 'asking', state }, { type: 'ask PIN', retries: state.retries });
    const message = `${run.serialNumber} already has a PIN, and only a first PIN can be created`;
    return over(run, new IssueProblem('pin-present', message));
  }
  if (options.pin.kind === 'none') return opened(run, state, null);
  const { minLength, refusesSimple } = state;
  const least = Math.max(minLength, options.minPinLength ?? 0);
  return wait(run, { at: 'asking', state }, { type: 'new PIN', minLength: least, refusesSimple });
}

function unusable({ needsReplug, retries, mustChange }: KeyPinState): IssueProblem | null {
  if (needsReplug) return new IssueProblem('pin-replug', 'the key must be plugged in again before it accepts a PIN');
  if (retries === 0) return new IssueProblem('pin-blocked', 'the PIN of the key is blocked: only a reset unblocks it');
  return mustChange ? new IssueProblem('pin-change', 'the PIN of the key must be changed first') : null;
}

/** The key continues with a first PIN after an interruption. */
function setPin(run: IssueRun, state: KeyPinState, pin: string): IssueTurn {
  const memory = { ...run.memory, pin, isLettered: false };
  return step({ ...run, memory }, { at: 'setting', state, pin }, { step: 'pin', pin });
}

/** If the key already has a PIN, it is not entered yet. `isMade`: no outcome has had it. */
function opened(run: IssueRun, state: KeyPinState, pin: string | null, isMade = false): IssueTurn {
  const { memory, outcome } = run;
  const next: IssueRun = {
    ...run,
    key: { pin, state },
    outcome: {
      ...outcome,
      pin: pin === null ? 'none' : state.isSet ? 'present' : 'set',
      madePin: isMade ? pin : null,
      leavesRules: missingRules(run, state) !== null,
    },
  };
  return memory.wrong !== null && memory.wrong.pin === pin ? over(next, memory.wrong.error) : nextProvider(next);
}

function nextProvider(run: IssueRun): IssueTurn {
  const [provider] = run.open;
  if (provider !== undefined) return wait(run, { at: 'starting' }, { type: 'start', providerId: provider.providerId });
  return run.outcome.error === null ? setRules(run) : over(run);
}

function create(run: IssueRun, { credentialId, origin, options }: StartedCredential): IssueTurn {
  const pin = run.key?.pin ?? null;
  const one = { step: 'credential', ...(pin !== null && { pin }), origin, options: JSON.stringify(options) } as const;
  return step(run, { at: 'creating', credentialId }, one);
}

const finishOf = (credentialId: string, made: MadeCredential) => ({ type: 'finish', credentialId, made }) as const;

/** One answer may be sent several times: the registry looks up what the provider has. */
const finish = (run: IssueRun, one: Extract<IssueAction, { type: 'finish' }>, attempt: number): IssueTurn =>
  wait(run, { at: 'finishing', finish: one, attempt }, one);

function issued(run: IssueRun): IssueTurn {
  const [provider, ...open] = run.open;
  const providers = { ...run.outcome.providers, [columnOf(provider!)]: 'issued' as const };
  return nextProvider({ ...run, open, outcome: { ...run.outcome, providers } });
}

/** An action has failed. */
function failed(run: IssueRun, event: Failed): IssueTurn {
  const { phase, key } = run;
  switch (phase.at) {
    case 'starting':
      return wait(run, { at: 'looking up', failed: event }, { type: 'read credentials' });
    case 'finishing':
      if (event.isLost && phase.attempt < ATTEMPTS) return finish(run, phase.finish, phase.attempt + 1);
      // A credential that the provider refuses must not stay on the key. If its response is lost, it may have accepted the credential.
      if (event.isRefusal && key !== null && key.pin !== null) {
        const forget = { step: 'forget', pin: key.pin, credentialId: phase.finish.made.response.id } as const;
        return step(run, { at: 'forgetting', failed: event }, forget);
      }
      return missing(run, event);
    case 'creating':
    case 'looking up':
      return missing(run, event);
    case 'forgetting':
      return missing(run, phase.failed);
    default:
      return over(run, event.error);
  }
}

/** The key is not issued at the provider that was next; it continues with the others unless they would fail as well. */
function missing(run: IssueRun, { error, isRefusal, isLost }: Failed): IssueTurn {
  const [provider, ...open] = run.open;
  const { outcome } = run;
  const errors = { ...outcome.errors, [columnOf(provider!)]: error };
  const next = { ...run, open, outcome: { ...outcome, errors, error: outcome.error ?? error } };
  return isRefusal || isLost ? nextProvider(next) : over(next);
}

const hasRules = ({ changePin, minPinLength }: IssueOptions): boolean => changePin || minPinLength !== null;

/** Whether an earlier run was interrupted before the rules. A PIN that has to be changed opens nothing, also not for a rule. */
const lacksRules = (run: IssueRun, state: KeyPinState | null): boolean =>
  state?.isSet === true && state.canKeepRules && !state.mustChange && missingRules(run, state) !== null;

/** Null if the key keeps all of them. It refuses a length below its own. */
function missingRules({ options }: IssueRun, { minLength, mustChange }: KeyPinState) {
  const { changePin, minPinLength } = options;
  const isLonger = minPinLength !== null && minPinLength > minLength;
  const rules = { ...(isLonger ? { minPinLength } : {}), ...(changePin && !mustChange ? { changePin } : {}) };
  return Object.keys(rules).length === 0 ? null : rules;
}

/** Afterwards the PIN may open nothing. */
function setRules(run: IssueRun): IssueTurn {
  const { pin, state } = run.key!;
  const rules = missingRules(run, state);
  if (rules === null || pin === null) return over(run);
  if (state.canKeepRules) return step(run, { at: 'ruling' }, { step: 'rules', pin, ...rules });
  return over({ ...run, outcome: { ...run.outcome, lacksRules: true } });
}

/** A PIN that was refused, or of a key that is issued, is forgotten. */
function over(run: IssueRun, cause: unknown = null): IssueTurn {
  const { outcome, memory } = run;
  const pin = run.key?.pin ?? null;
  const error = outcome.error ?? cause;
  const isWrong = error instanceof IssueProblem && error.code === 'pin-invalid';
  const madePin = isWrong ? null : outcome.madePin;
  const isEnded = error === null || isWrong;
  return [
    {
      ...run,
      phase: { at: 'over' },
      outcome: { ...outcome, error, madePin, leavesRules: error !== null && outcome.leavesRules },
      memory: {
        ...(isEnded ? noPin : { pin: memory.pin, isLettered: memory.isLettered || madePin !== null }),
        wrong: isWrong && pin !== null ? { pin, error } : memory.wrong,
      },
    },
    null,
  ];
}
