/** The state machine that issues a key: what is asked next, after each answer and each failure. */
import { describe, expect, test } from 'vitest';
import type { IssueAction, IssueEvent, IssueOptions } from '../../../src/enrollment/issue-events.ts';
import { begun, failureOf, type PinMemory, taken } from '../../../src/enrollment/issue-run.ts';
import { IssueProblem, type IssueProblemCode, type KeyPinState } from '../../../src/enrollment/issue-step.ts';

const PIN = '135790';
const options: IssueOptions = {
  providers: [
    { providerId: 'IDP-1', name: 'company' },
    { providerId: 'IDP-2', name: 'okta' },
  ],
  pin: { kind: 'ask' },
  changePin: false,
  minPinLength: null,
};
const random = { pin: { kind: 'random' } } as const;
const noPin = { pin: { kind: 'none' } } as const;
const rules = { changePin: true, minPinLength: 8 };
const usable: KeyPinState = {
  isSet: true,
  retries: 8,
  needsReplug: false,
  mustChange: false,
  minLength: 4,
  refusesSimple: false,
  canKeepRules: true,
  freeCredentials: null,
};

const credential = (providerId: string, more = {}) =>
  ({ credentialId: `C-${providerId}`, providerId, removedAt: null, pending: false, ...more }) as never;
const credentials = (...list: never[]): IssueEvent => ({ type: 'credentials', credentials: list });
const step = (answer: object): IssueEvent => ({
  type: 'step',
  answer: { state: null, response: null, problem: null, refusal: null, failure: null, ...answer },
});
const state = (more: Partial<KeyPinState> = {}) => step({ state: { ...usable, ...more } });
const first = state({ isSet: false });
const pin: IssueEvent = { type: 'PIN', pin: PIN };
const done = step({});
const started: IssueEvent = {
  type: 'started',
  started: { credentialId: 'C', origin: 'https://a', options: {} } as never,
};
const response = step({ response: { id: 'R' } });
const finished: IssueEvent = { type: 'finished' };
const lost: IssueEvent = { type: 'failed', error: 'lost', isRefusal: false, isLost: true };
const refused: IssueEvent = { type: 'failed', error: 'refused', isRefusal: true, isLost: false };
const crashed: IssueEvent = { type: 'failed', error: 'crashed', isRefusal: false, isLost: false };
const problem = (code: IssueProblemCode): IssueEvent => failureOf(new IssueProblem(code, code));
/** The key is issued at one provider. */
const at: readonly IssueEvent[] = [started, response, finished];
/** The key is issued at none and has a PIN, which is known. */
const opened: readonly IssueEvent[] = [credentials(), state(), pin];

const named = (action: IssueAction): string => {
  if (action.type === 'step') return `key: ${action.step.step}`;
  return action.type === 'start' ? `start ${action.providerId}` : action.type;
};

/** The actions after these answers, and the run at the end. */
function ran(events: readonly IssueEvent[], more: Partial<IssueOptions> = {}, memory?: PinMemory) {
  let [run, action] = begun({ ...options, ...more }, 'A-1', memory);
  const actions: IssueAction[] = [];
  for (const event of events) {
    expect(action, `there is nothing to answer with ${event.type} after ${actions.map(named)}`).not.toBeNull();
    actions.push(action!);
    [run, action] = taken(run, event);
  }
  if (action !== null) actions.push(action);
  const { error, errors, providers, ...outcome } = run.outcome;
  const issued = Object.keys(providers).filter(name => providers[name] === 'issued');
  const code = error instanceof IssueProblem ? error.code : error;
  return {
    names: actions.map(named),
    isOver: action === null,
    code,
    errors,
    issued,
    outcome,
    memory: run.memory,
    actions,
  };
}

const read = ['read credentials'];
const begin = [...read, 'key: state'];
const one = (providerId: string) => [`start ${providerId}`, 'key: credential', 'finish'];
const both = [...one('IDP-1'), ...one('IDP-2')];
const all = ['company', 'okta'];

/** The answers, the options, the actions, the error, and where the key is issued. */
const table: Record<string, [readonly IssueEvent[], Partial<IssueOptions>, string[], unknown, string[]]> = {
  'with its PIN': [[...opened, ...at, ...at], {}, [...begin, 'ask PIN', ...both], null, all],
  'with a first PIN': [
    [credentials(), first, pin, done, ...at, ...at],
    {},
    [...begin, 'new PIN', 'key: pin', ...both],
    null,
    all,
  ],
  'without a PIN': [[credentials(), first, ...at, ...at], noPin, [...begin, ...both], null, all],
  'with rules, which are last': [
    [...opened, ...at, ...at, done],
    rules,
    [...begin, 'ask PIN', ...both, 'key: rules'],
    null,
    all,
  ],
  'at the provider that it lacks': [
    [credentials(credential('IDP-1')), state(), pin, ...at],
    {},
    [...begin, 'ask PIN', ...one('IDP-2')],
    null,
    all,
  ],
  'again where its credential is removed, or not accepted yet': [
    [credentials(credential('IDP-1', { removedAt: 'T' }), credential('IDP-2', { pending: true })), state(), pin],
    {},
    [...begin, 'ask PIN', 'start IDP-1'],
    null,
    [],
  ],
  'nowhere if it has all': [[credentials(credential('IDP-1'), credential('IDP-2'))], {}, read, null, all],
  'nowhere if it has all and keeps the rules': [
    [credentials(credential('IDP-1'), credential('IDP-2')), state({ minLength: 8, mustChange: true })],
    rules,
    begin,
    null,
    all,
  ],
  'nowhere if it has all, for the rules that an earlier run has left': [
    [credentials(credential('IDP-1'), credential('IDP-2')), state(), pin, done],
    rules,
    [...begin, 'ask PIN', 'key: rules'],
    null,
    all,
  ],
  'after a reset is settled': [
    [credentials(credential('IDP-1', { reset: true })), credentials(credential('IDP-1', { reset: true })), state()],
    {},
    [...read, 'settle reset', 'key: state', 'ask PIN'],
    null,
    ['company'],
  ],
  'not while its reset is not settled': [
    [credentials(credential('IDP-1', { reset: true })), problem('protocol')],
    {},
    [...read, 'settle reset'],
    'protocol',
    [],
  ],
  'not while credentials cannot be read': [[lost], {}, read, 'lost', []],
  'not if it does not report its PIN': [[credentials(), done], {}, begin, 'protocol', []],
  'not before it is plugged in again': [[credentials(), state({ needsReplug: true })], {}, begin, 'pin-replug', []],
  'not with a blocked PIN': [[credentials(), state({ retries: 0 })], {}, begin, 'pin-blocked', []],
  'not before its PIN is changed': [[credentials(), state({ mustChange: true })], {}, begin, 'pin-change', []],
  'not with a random PIN if it has one': [[credentials(), state()], random, begin, 'pin-present', []],
  'not if no PIN is entered': [[credentials(), state(), crashed], {}, [...begin, 'ask PIN'], 'crashed', []],
  'not if its first PIN fails': [[credentials(), first, pin, lost], {}, [...begin, 'new PIN', 'key: pin'], 'lost', []],
  'at the next provider after a refusal, which the key forgets': [
    [...opened, started, response, refused, done, ...at],
    {},
    [...begin, 'ask PIN', ...one('IDP-1'), 'key: forget', ...one('IDP-2')],
    'refused',
    ['okta'],
  ],
  'at the next provider if the key does not forget': [
    [...opened, started, response, refused, crashed, ...at],
    {},
    [...begin, 'ask PIN', ...one('IDP-1'), 'key: forget', ...one('IDP-2')],
    'refused',
    ['okta'],
  ],
  'with an answer that is sent three times': [
    [...opened, started, response, lost, lost, lost, ...at],
    {},
    [...begin, 'ask PIN', ...one('IDP-1'), 'finish', 'finish', ...one('IDP-2')],
    'lost',
    ['okta'],
  ],
  'where a lost start was an acceptance': [
    [...opened, lost, credentials(credential('IDP-1')), ...at],
    {},
    [...begin, 'ask PIN', 'start IDP-1', 'read credentials', ...one('IDP-2')],
    null,
    all,
  ],
  'not where a start is refused': [
    [...opened, refused, credentials(), ...at],
    {},
    [...begin, 'ask PIN', 'start IDP-1', 'read credentials', ...one('IDP-2')],
    'refused',
    ['okta'],
  ],
  'nowhere after an error that every provider would meet': [
    [...opened, crashed, credentials()],
    {},
    [...begin, 'ask PIN', 'start IDP-1', 'read credentials'],
    'crashed',
    [],
  ],
  'nowhere after the key has refused': [
    [...opened, started, problem('pin-invalid')],
    {},
    [...begin, 'ask PIN', 'start IDP-1', 'key: credential'],
    'pin-invalid',
    [],
  ],
  'nowhere if the key makes no credential': [
    [...opened, started, done],
    {},
    [...begin, 'ask PIN', 'start IDP-1', 'key: credential'],
    'protocol',
    [],
  ],
};

describe('a key is issued', () => {
  test.each(Object.entries(table))('%s', (_, [events, more, names, code, issued]) => {
    expect(ran(events, more)).toMatchObject({ names, code, issued });
  });
});

describe('the outcome', () => {
  test('has the reason for each provider, and the first of them', () => {
    const { errors, isOver } = ran([...opened, refused, credentials(), lost, credentials()]);
    expect([errors, isOver]).toEqual([{ company: 'refused', okta: 'lost' }, true]);
  });

  test.each([
    [opened, {}, { pin: 'present', madePin: null }],
    [[credentials(), first, pin, done], {}, { pin: 'set', madePin: null }],
    [[credentials(), first, pin, done], random, { pin: 'set', madePin: PIN }],
    [[credentials(), first], noPin, { pin: 'none', madePin: null }],
    [[credentials()], {}, { pin: null, isRead: true, wasIssued: false }],
    [[lost], rules, { isRead: false, leavesRules: true }],
    [[credentials(credential('IDP-1'), credential('IDP-2'))], {}, { wasIssued: true }],
    [[...opened, ...at, crashed, credentials()], rules, { leavesRules: true, lacksRules: false }],
    [[...opened, ...at, ...at, done], rules, { leavesRules: false, lacksRules: false }],
    [
      [credentials(), state({ canKeepRules: false }), pin, ...at, ...at],
      rules,
      { leavesRules: false, lacksRules: true },
    ],
    [[credentials(), first, ...at, ...at], { ...noPin, ...rules }, { leavesRules: false, lacksRules: false }],
  ] as const)('after %j', (events, more, outcome) => {
    expect(ran(events, more).outcome).toMatchObject(outcome);
  });

  test.each([
    [{ minLength: 4 }, { changePin: true, minPinLength: 8 }],
    [{ minLength: 9 }, { changePin: true }],
  ])('sets of the rules those that a key with %j lacks', (known, wanted) => {
    const { actions } = ran([credentials(), state(known), pin, ...at, ...at], rules);
    expect(actions.at(-1)).toEqual({ type: 'step', step: { step: 'rules', pin: PIN, ...wanted } });
  });

  test('a first PIN has as many characters as the key and the rules demand', () => {
    const { actions } = ran([credentials(), state({ isSet: false, minLength: 6, refusesSimple: true })], rules);
    expect(actions.at(-1)).toEqual({ type: 'new PIN', minLength: 8, refusesSimple: true });
  });
});

describe('the PIN of a key', () => {
  const made = [credentials(), first, pin, done];

  test('that was set by a run that ended early is used by the next one, and given to a letter once', () => {
    const early = ran([...made.slice(0, -1), lost], random);
    expect(early.outcome.madePin).toBeNull();
    const next = ran([credentials(), state(), crashed, credentials()], random, early.memory);
    expect([next.names, next.outcome.madePin]).toEqual([[...begin, 'start IDP-1', 'read credentials'], PIN]);
    expect(ran([credentials(), state()], random, next.memory).outcome.madePin).toBeNull();
  });

  test('is forgotten when the key is issued', () => {
    expect(ran([...made, ...at, ...at], random).memory).toEqual({ pin: null, isLettered: false, wrong: null });
  });

  test('that is wrong is asked for and entered once, and in no letter', () => {
    const wrong = ran([...opened, started, problem('pin-invalid')]);
    expect(wrong.outcome.madePin).toBeNull();
    const next = ran(opened, {}, wrong.memory);
    expect([next.names, next.code, next.isOver]).toEqual([[...begin, 'ask PIN'], 'pin-invalid', true]);
    const other = ran([...opened.slice(0, -1), { type: 'PIN', pin: '246802' }], {}, wrong.memory);
    expect(other.names.at(-1)).toBe('start IDP-1');
  });
});
