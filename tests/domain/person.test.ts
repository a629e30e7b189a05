import { expect, it } from 'vitest';
import { isEndedHere } from '../../daemon/people/decisions.ts';

const left = { active: false, removedAt: null, reason: 'moved', endedBy: null } as const;

it.each([
  [{ endedBy: 'admin', reason: 'left (scim)' }, true],
  [{ endedBy: 'source', reason: 'moved' }, false],
  [{ endedBy: 'admin', removedAt: 1 }, false],
  [{ endedBy: null, active: true, reason: null }, false],
  // Daemons of earlier versions store a reason alone.
  [{ reason: 'moved' }, true],
  [{ reason: 'left (local)' }, false],
  [{ reason: 'left (scim)' }, false],
  [{ reason: 'left (directory)' }, false],
  [{ reason: 'left (Scim)' }, true],
] as const)('whether an ADMIN has ended a person: %j', (person, isEnded) => {
  expect(isEndedHere({ ...left, ...person })).toBe(isEnded);
});
