/** `devmgr keys verify --all`: the registry judges stored answers again, in portions, and this shows what has changed. */
import { type ProofGrade, proofGrades } from '../../../contract/key-values.ts';
import { count, counted } from '../../count.ts';
import type { Context } from '../../framework/context.ts';
import { present } from '../../framework/present.ts';

type Grades = Readonly<Record<ProofGrade, number>>;

/** Judges all answers. An interrupted run has judged some of them; the next run starts over. */
export async function judgeAll(context: Context): Promise<void> {
  await context.registry.token();
  const before = await countGrades(context);
  const { judged, changed } = await judgePortions(context);
  const after = changed === 0 ? before : await countGrades(context);
  const moved = proofGrades.filter(grade => before[grade] !== after[grade]);
  await present(context, {
    data: { judged, changed, before, after },
    id: String(changed),
    title: `${counted(judged, 'device')} checked again, ${count(changed)} changed`,
    rows: moved.map(grade => [grade, `${count(before[grade])} → ${count(after[grade])}`]),
    next: after.failed > 0 ? 'devmgr list --proof failed' : null,
  });
}

async function judgePortions({ registry, out }: Context): Promise<{ judged: number; changed: number }> {
  const sum = { judged: 0, changed: 0 };
  for (let after: number | null = 0; after !== null; ) {
    const portion: { judged: number; changed: number; next: number | null } = await registry.call('judgeProofsAgain', {
      body: { after },
    });
    sum.judged += portion.judged;
    sum.changed += portion.changed;
    // A server that repeats a portion would never end.
    after = portion.next !== null && portion.next > after ? portion.next : null;
    out.progress.show('Judging', sum.judged, null);
  }
  out.progress.clear();
  return sum;
}

/** How many devices have each grade. */
async function countGrades({ registry }: Context): Promise<Grades> {
  const totals = await Promise.all(
    proofGrades.map(async grade => {
      const { pagination } = await registry.call('listDevices', { query: { proof: [grade], size: 1 } });
      return [grade, pagination.total] as const;
    }),
  );
  return Object.fromEntries(totals) as Grades;
}
