/** Exemptions and allowances of users whose keys were removed. */
import { expect, it } from 'vitest';
import type { UserRecord } from '../../daemon/requests/callers.ts';
import * as policy from '../../daemon/sign-in/policy.ts';
import type { DocumentSet } from '../../daemon/store/document.ts';

const ana: UserRecord = {
  number: 2,
  username: 'ana',
  userKey: 'ana',
  passwordHash: 'hash',
  role: 'ADMIN',
  email: null,
  disabled: false,
  createdAt: 0,
  tokenEpoch: 1,
};
const after = (set: DocumentSet | null) =>
  policy.policyIn({ name: policy.SIGN_IN_POLICY, version: 1, value: set!.value } as Parameters<
    typeof policy.policyIn
  >[0]);

it('an allowed registration does not bring an exemption back that has ended: the password alone opens nothing else', () => {
  const required = after(policy.requireOfRoles(policy.policyIn(null), ['ADMIN']));
  const exempt = after(policy.exempt(required, ana, { at: 0, until: 10 }));
  expect([policy.needsKey(exempt, ana, 5), policy.needsKey(exempt, ana, 10)]).toEqual([false, true]);
  const allowed = after(policy.allowRegistration(exempt, ana, { at: 20, until: 30 }));
  expect(policy.needsKey(allowed, ana, 25)).toBe(true);
  expect(policy.registrationUntil(allowed, ana, 25)).toBe(30);
});
