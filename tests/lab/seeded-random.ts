/** Random numbers that can be repeated. Prints the seed; `seed` repeats an earlier run. */

export function seeded(seed: string | undefined): () => number {
  let state = Number(seed ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`  seed ${state}`);
  return () => {
    // Mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A function that picks a random element of a list. */
export function randomOf(random: () => number): <T>(list: readonly T[]) => T {
  return list => {
    const one = list[Math.floor(random() * list.length)];
    if (one === undefined) throw new Error('the list is empty');
    return one;
  };
}
