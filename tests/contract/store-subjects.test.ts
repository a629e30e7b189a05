import { describe, expect, it } from 'vitest';
import { accounts } from '../../daemon/accounts/index.ts';
import { people } from '../../daemon/people/index.ts';
import { receipts } from '../../daemon/receipts/index.ts';
import { Subjects } from '../../daemon/store/subjects.ts';

describe('the subjects of a store', () => {
  it.each([
    ['a change', [accounts, people, receipts, { changes: { 'receipt.add': receipts.changes!['receipt.add']! } }]],
    ['a change of the store', [accounts, people, { changes: { 'document.set': receipts.changes!['receipt.add']! } }]],
    ['a guard', [accounts, people, { guards: { user: accounts.guards!.user! } }]],
    ['the rule of callers', [accounts, people, { caller: accounts.caller! }]],
  ])('cannot state %s twice', (_, stated) => {
    expect(() => new Subjects([accounts, people])).not.toThrow();
    expect(() => new Subjects(stated)).toThrow(/two subjects state the|2 subjects state/);
  });

  it('state the rule of callers and the names in the journal', () => {
    expect(() => new Subjects([people])).toThrow('0 subjects state "caller", one must');
    expect(new Subjects([accounts]).names).toBeUndefined();
  });

  it('make no sense of a kind that none of them states', () => {
    const some = new Subjects([accounts, people]);
    expect(() => some.ruleOf({ kind: 'loan.announce' } as never)).toThrow('no subject states the change loan.announce');
    expect(() => some.guardOf({ kind: 'device' } as never)).toThrow('no subject states the guard device');
  });
});
