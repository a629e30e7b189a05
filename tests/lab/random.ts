/** Random order that can be had again: prints its seed, takes one. */

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

export function randomOf(random: () => number): <T>(list: readonly T[]) => T {
  return list => {
    const one = list[Math.floor(random() * list.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  };
}
