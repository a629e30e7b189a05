/** The meaning of a commit: its guards, its changes and its response. */
import { type ChangeResult, type Commit, Conflict } from '../commit.ts';
import type { Subjects } from '../subjects.ts';
import type { Draft } from './draft.ts';
import { needsResponse, Responses } from './responses.ts';
import { WantedRows } from './source.ts';

/** The lookups of commits, for an engine that reads it beforehand. */
export function needsOf(subjects: Subjects, commits: readonly Commit[]): WantedRows {
  const wanted = new WantedRows();
  for (const commit of commits) {
    if (commit.caller) subjects.caller.needs(commit.caller, wanted);
    needsResponse(commit, wanted);
    for (const guard of commit.guards ?? []) subjects.guardOf(guard).needs(guard, wanted);
    for (const change of commit.changes) subjects.ruleOf(change).needs?.(change, wanted);
  }
  return wanted;
}

/**
 * Applies one commit, change by change. Throws a `CommitRefusal`; then the draft is as it was. After another error it must not be
 * used.
 */
export function* applyCommit(subjects: Subjects, draft: Draft, commit: Commit): Generator<void, ChangeResult[]> {
  yield* check(subjects, draft, commit);
  const at = draft.timeOf(commit.at);
  const isRaised = at !== commit.at;
  const context = isRaised ? { ...commit, at } : commit;
  const results: ChangeResult[] = [];
  for (const change of commit.changes) {
    const rule = subjects.ruleOf(change);
    const made = (isRaised && rule.later?.(change, at - commit.at)) || change;
    const result = rule.apply(draft, made, context);
    results.push(
      isRaised && (rule.tellsTime || result.kind === 'added') ? ({ ...result, at } as ChangeResult) : result,
    );
    yield;
  }
  if (commit.response) draft.part(Responses).store(commit, results);
  return results;
}

function* check(subjects: Subjects, draft: Draft, commit: Commit): Generator<void, void> {
  if (commit.caller) subjects.caller.check(draft, commit.caller);
  if (commit.response) draft.part(Responses).check(commit);
  for (const guard of commit.guards ?? []) {
    const broken = subjects.guardOf(guard).broken(draft, guard);
    if (broken) throw new Conflict(broken);
    yield;
  }
  for (const change of commit.changes) subjects.ruleOf(change).check?.(draft, change);
}
