/** The comparison of credentials here and at a provider, in portions. No I/O of its own. */
import type { Body, Data } from '../contract/routes.ts';

type Portion = Data<'reconcileProvider'>;
/** Differences between registry and provider. */
export type Differences = Omit<Portion, 'next'>;

/** All portions, each by one request. */
export async function allDifferences(
  request: (body: Body<'reconcileProvider'>) => Promise<Portion>,
  apply: boolean,
): Promise<Differences> {
  const portions: Portion[] = [];
  for (let after: number | null = 0; after !== null; after = portions.at(-1)!.next)
    portions.push(await request({ apply, after }));
  return {
    onlyHere: portions.flatMap(({ onlyHere }) => onlyHere),
    onlyThere: portions.flatMap(({ onlyThere }) => onlyThere),
    otherPerson: portions.flatMap(({ otherPerson }) => otherPerson),
  };
}

/** How many of them `apply` repairs. */
export const repairable = ({ onlyHere, onlyThere, otherPerson }: Differences): number =>
  onlyHere.length + otherPerson.length + onlyThere.filter(({ removable }) => removable === true).length;
