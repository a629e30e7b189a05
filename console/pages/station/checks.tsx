/** What was checked of a key, and the code of one that could not be activated. */

import { checksOf } from '../../../src/enrollment/line/checks.ts';
import { dictionary } from '../../text/text.ts';
import type { Outcome } from './run.ts';

const runWords = dictionary('benchRun');

/** The checks in their order. */
export function Checks({ outcome }: { readonly outcome: Outcome }) {
  const words = runWords.value;
  const { verdict, isCommit } = outcome;
  const checks = checksOf(verdict);
  const activationCode = isCommit && verdict.failure !== null ? verdict.row.activationCode : null;
  return (
    <>
      {checks.length > 0 && (
        <ul class="chips">
          {checks.map(({ name, passed }) => (
            <li key={name}>
              <span class={`badge ${passed ? 'good' : 'bad'}`}>{passed ? words.passed : words.failed}</span>{' '}
              {words.check[name]}
            </li>
          ))}
        </ul>
      )}
      {activationCode && (
        <p>
          {words.code} <strong class="code">{activationCode}</strong>
        </p>
      )}
    </>
  );
}
