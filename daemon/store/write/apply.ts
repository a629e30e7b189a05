/** What a commit means: its guards, its changes and its response. */

import { tokenChanges } from '../../accounts/token-rules.ts';
import { callerRule, userChanges, userGuards } from '../../accounts/user-rules.ts';
import { deviceChanges, deviceGuards } from '../../devices/rules.ts';
import { registeredLater } from '../../domain/device-decisions.ts';
import type { JournalAdd, JournalRotate } from '../../domain/journal.ts';
import { credentialChanges } from '../../issuing/rules.ts';
import { ownerGuards, personChanges } from '../../people/rules.ts';
import { proofChanges, proofGuards } from '../../proofs/rules.ts';
import { receiptChanges } from '../../receipts/rules.ts';
import { passkeyChanges, passkeyGuards } from '../../sign-in/rules.ts';
import { type Change, type ChangeResult, type Commit, Conflict, type Guard } from '../commit.ts';
import { apps } from '../tables.ts';
import { documentChanges, documentGuards } from './documents.ts';
import type { Draft } from './draft.ts';
import { needsResponse, Responses, responseChanges } from './responses.ts';
import { adding, type ChangeRule, type ChangeRules, done, type GuardRule, type GuardRules } from './rule.ts';
import { WantedRows } from './source.ts';

/** Entries without a change. */
const journalChanges: ChangeRules<(JournalAdd | JournalRotate)['kind']> = {
  'journal.add': {
    apply(draft, { entry, device, subject }, context) {
      draft.enter(context, entry, device, subject);
      return done;
    },
  },
  'journal.rotate': {
    apply(draft, { key, entry }, context) {
      draft.rotate(context, entry, key);
      return done;
    },
  },
};

const changes: ChangeRules<Change['kind']> = {
  ...deviceChanges,
  ...userChanges,
  'app.add': adding(apps, ({ app }) => app),
  ...tokenChanges,
  ...passkeyChanges,
  ...credentialChanges,
  ...personChanges,
  ...proofChanges,
  ...receiptChanges,
  ...documentChanges,
  ...responseChanges,
  ...journalChanges,
};

const guards: GuardRules<Guard['kind']> = {
  ...deviceGuards,
  ...userGuards,
  ...passkeyGuards,
  ...ownerGuards,
  ...proofGuards,
  ...documentGuards,
};

/** The compiler cannot see that an entry of the table takes exactly the changes of its kind. */
const ruleOf = (change: Change) => changes[change.kind] as ChangeRule<Change>;
const guardRuleOf = (guard: Guard) => guards[guard.kind] as GuardRule<Guard>;

/** What the commits look up, for an engine that reads it beforehand. */
export function needsOf(commits: readonly Commit[]): WantedRows {
  const wanted = new WantedRows();
  for (const commit of commits) {
    if (commit.caller) callerRule.needs(commit.caller, wanted);
    needsResponse(commit, wanted);
    for (const guard of commit.guards ?? []) guardRuleOf(guard).needs(guard, wanted);
    for (const change of commit.changes) ruleOf(change).needs?.(change, wanted);
  }
  return wanted;
}

/**
 * Applies one commit, change by change. Throws a `CommitRefusal`; then the draft is as it was. After another error it must not be
 * used.
 */
export function* applyCommit(draft: Draft, commit: Commit): Generator<void, ChangeResult[]> {
  check(draft, commit);
  const at = draft.timeOf(commit.at);
  const isRaised = at !== commit.at;
  const context = isRaised ? { ...commit, at } : commit;
  const results: ChangeResult[] = [];
  for (const change of commit.changes) {
    const result = ruleOf(change).apply(draft, isRaised ? later(change, at - commit.at) : change, context);
    const hasTime = result.kind === 'added' || result.kind === 'used';
    results.push(isRaised && hasTime ? { ...result, at } : result);
    yield;
  }
  if (commit.response) draft.part(Responses).store(commit, results);
  return results;
}

function check(draft: Draft, commit: Commit): void {
  if (commit.caller) callerRule.check(draft, commit.caller);
  if (commit.response) draft.part(Responses).check(commit);
  for (const guard of commit.guards ?? []) {
    const broken = guardRuleOf(guard).broken(draft, guard);
    if (broken) throw new Conflict(broken);
  }
  for (const change of commit.changes) ruleOf(change).check?.(draft, change);
}

/** The change of a commit whose time was raised. */
const later = (change: Change, by: number): Change =>
  change.kind === 'device.add' ? registeredLater(change, by) : change;
