/** Random numbers that can be repeated. Prints the seed; `seed` repeats an earlier run. */
import { mulberry } from '../support/mulberry.ts';

export function seeded(seed: string | undefined): () => number {
  const chosen = Number(seed ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`  seed ${chosen}`);
  return mulberry(chosen);
}

/** A function that picks a random element of a list. */
export function randomOf(random: () => number): <T>(list: readonly T[]) => T {
  return list => {
    const one = list[Math.floor(random() * list.length)];
    if (one === undefined) throw new Error('the list is empty');
    return one;
  };
}
