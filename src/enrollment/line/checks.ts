/** The checks that a verdict is of. */
import type { KeyFailure } from '../outcome.ts';
import type { PersonVerdict } from './person-enrollment.ts';

const checks = ['serial', 'type', 'free', 'proof'] as const;
/** The checks, in this order. */
export type CheckName = (typeof checks)[number];

/** The check that finds a failure; absent if none does. */
const foundBy: Readonly<Partial<Record<KeyFailure, CheckName>>> = {
  'serial number unreadable': 'serial',
  'wrong type': 'type',
  'counted before': 'free',
  'bound to another person': 'free',
  LOCKED: 'free',
  DEACTIVATED: 'free',
  'has another key': 'free',
  proof: 'proof',
};

/** The checks that were reached. */
export function checksOf({
  failure,
  proved,
}: PersonVerdict): readonly { readonly name: CheckName; readonly passed: boolean }[] {
  const last = failure === null ? (proved === null ? 'free' : 'proof') : foundBy[failure];
  const reached = last === undefined ? [] : checks.slice(0, checks.indexOf(last) + 1);
  return reached.map(name => ({ name, passed: failure === null || name !== last }));
}
