/** Finding of a check of another service. */
import { exitCodes } from '../exit-codes.ts';
import type { Context } from '../framework/context.ts';
import { type CardRow, present } from '../framework/present.ts';
import { safe } from '../terminal/text.ts';

interface Findings {
  readonly ok: boolean;
  readonly findings: readonly { readonly check: string; readonly ok: boolean; readonly detail: string }[];
}

/** Shows the findings, then `more`. Resolves to the exit code: 1 if something is wrong. */
export async function showFindings(
  context: Context,
  data: Findings,
  { title, more = [], next }: { readonly title: string; readonly more?: readonly CardRow[]; readonly next?: string },
): Promise<number> {
  const { ok, findings } = data;
  const rows = findings.map(
    ({ check, ok: fine, detail }): CardRow => [safe(check), `${fine ? '' : 'FAILED: '}${safe(detail)}`],
  );
  await present(context, {
    data,
    id: ok ? 'ok' : 'failed',
    title: ok ? title : 'Something is wrong',
    rows: [...rows, ...more],
    next: ok ? next : null,
  });
  return ok ? exitCodes.done : exitCodes.failure;
}
