/** Issues a key that an enrollment has bound to its person. */
import { type KeyIssuing, statesAt } from '../../../../enrollment/issuing.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import { Fault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { faultOf, type IssuePlan } from './issuing.ts';

/** A row, and the PIN that was made for its letter; null if none was. */
export interface IssuedRow {
  readonly row: EnrollmentOutcome;
  readonly madePin: string | null;
}

/** The key keeps its device and its person if it is not issued: its row has the reason, and counts as failed. */
export async function issuedRow(
  context: Context,
  { plan, issuing }: { readonly plan: IssuePlan; readonly issuing: KeyIssuing },
  key: NumberedKey,
  row: EnrollmentOutcome,
): Promise<IssuedRow> {
  const { deviceId, status, result } = row;
  if (deviceId === null || status !== 'ACTIVE' || result === 'failed')
    return { row: { ...row, providers: statesAt(plan.providers, new Set()) }, madePin: null };
  const { issued, madePin, lacksRules, error } = await issuing.issue(key, deviceId);
  if (error !== null && context.io.interrupt.aborted) throw faultOf(error, deviceId);
  const providers = statesAt(plan.providers, issued);
  const said = (text: string) => (row.message === null ? text : `${row.message}; ${text}`);
  if (error === null) {
    const message = lacksRules
      ? said('this key keeps no rules for its PIN: tell the person what to choose')
      : row.message;
    return { row: { ...row, providers, message }, madePin };
  }
  const missing = Object.keys(providers).filter(name => providers[name] === 'missing');
  const where = missing.length === 0 ? 'not complete' : `not issued at ${missing.join(', ')}`;
  const message = said(`${where}: ${wordsOf(faultOf(error, deviceId))}. Plug it in again to continue`);
  return { row: { ...row, providers, result: 'failed', message }, madePin };
}

function wordsOf(error: unknown): string {
  const { message } = error as Error;
  const hint = error instanceof Fault ? error.hint : null;
  return hint === null ? message : `${message}. ${hint}`;
}
