/** The table of the slot's state machine: each row is a sequence of events and what has to be done after the last one. */
import { expect, it } from 'vitest';
import { HardwareError, type HardwareErrorCode } from '../../drivers/hardware-error.ts';
import type { CardPresence } from '../../drivers/pcsc/presence.ts';
import { nextSlotState, type SlotEvent, type SlotState, type Transition } from '../../drivers/pcsc/slot-state.ts';
import type { CardIdentity } from '../../drivers/protocols/key-view.ts';

const RETRY_AFTER = 1_000;

const card = (count: number, more: Partial<CardPresence> = {}): SlotEvent => ({
  kind: 'presence',
  presence: { count, mute: false, held: false, ...more },
});
const removed: SlotEvent = { kind: 'presence', presence: null };
const serial = (serialNumber: string | null, problem: string | null = null): SlotEvent => ({
  kind: 'read',
  result: { identity: { serialNumber, problem } as CardIdentity, failure: null },
});
const failed = (code: HardwareErrorCode, message = 'failed'): SlotEvent => ({
  kind: 'read',
  result: { identity: null, failure: new HardwareError(code, message) },
});
const repeat = (event: SlotEvent, times: number): SlotEvent[] => Array.from({ length: times }, () => event);

function run(events: readonly SlotEvent[]): Transition {
  const empty: Transition = { state: null, actions: [] };
  return events.reduce(({ state }, event) => nextSlotState(state, event, RETRY_AFTER), empty);
}

/** The actions after the last event: `report attached`, `retry 1000`, … */
const actionsAfter = (events: readonly SlotEvent[]): string[] =>
  run(events).actions.map(action => {
    if (action.do === 'report') return `report ${action.change}`;
    return action.do === 'retry' ? `retry ${action.after}` : action.do;
  });

const busy = failed('busy');
const held = card(1, { held: true });
const mute = card(1, { mute: true });

it.each<[string, SlotEvent[], string[]]>([
  ['an empty slot stays empty', [removed], []],
  ['an inserted card is read', [card(1)], ['begin', 'read']],
  ['a repeated event for the same card does nothing', [card(1), card(1)], []],
  ['a card removed before it was read', [card(1), removed], ['end']],
  ['another count is another card', [card(1), card(3)], ['end', 'begin', 'read']],
  ['a serial is reported', [card(1), serial('A')], ['report attached']],
  ['a card without a serial is reported', [card(1), serial(null, 'none')], ['report attached']],
  ['a failure is reported and retried', [card(1), busy], ['report attached', 'retry 1000']],
  ['the same failure is not reported again, and retried later', [card(1), busy, busy], ['retry 2000']],
  ['another failure is a change', [card(1), busy, failed('protocol', 'protocol')], ['report changed', 'retry 2000']],
  ['a serial after a failure is a change', [card(1), busy, serial('A')], ['report changed']],
  ['the pause between retries is limited', [card(1), ...repeat(busy, 9)], ['retry 30000']],
  ['a card that seems removed is read again soon, without a report', [card(1), failed('removed')], ['retry 150']],
  ['a service that seems gone likewise', [card(1), failed('unavailable')], ['retry 150']],
  ['such a card is not reported before the fifth attempt', [card(1), ...repeat(failed('removed'), 4)], ['retry 1200']],
  ['in the fifth attempt it is', [card(1), ...repeat(failed('removed'), 5)], ['report attached', 'retry 16000']],
  ['a card that is mute is read again soon, without a report', [card(1), failed('mute')], ['retry 150']],
  ['a mute card is not reported before the fourth attempt', [card(1), ...repeat(failed('mute'), 3)], ['retry 600']],
  ['in the fourth attempt it is', [card(1), ...repeat(failed('mute'), 4)], ['report attached', 'retry 8000']],
  ['a mute card that is removed is not reported', [card(1), failed('removed'), failed('mute'), removed], ['end']],
  ['a card that is released after a failure is read at once', [held, busy, card(1)], ['read']],
  ['a card that answers to power after a failure is read at once', [mute, failed('mute'), card(1)], ['read']],
  ['a card that is released while it is being read is not read twice', [held, card(1)], []],
  ['a released card with a serial is not read again', [held, serial('A'), card(1)], []],
  ['a card that becomes held is not read', [card(1), busy, held], []],
  ['a result after the removal is dropped', [card(1), removed, serial('A')], []],
])('%s', (_name, events, actions) => {
  expect(actionsAfter(events)).toEqual(actions);
});

it('an insertion keeps its state until the card is removed', () => {
  const states: SlotState[] = [run([card(7), busy]).state, run([card(7), busy, removed]).state];
  expect(states[0]).toMatchObject({ attempts: 1, failed: true, reported: { serialNumber: null, problem: 'failed' } });
  expect(states[1]).toBeNull();
});

it('a reported failure stays the last report while the card seems removed', () => {
  expect(actionsAfter([card(1), busy, failed('removed'), busy])).toEqual(['retry 4000']);
});
