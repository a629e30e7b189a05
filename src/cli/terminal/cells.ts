/**
 * Cells a text takes in a terminal. The package that knows this to the last emoji takes longer to load than a command
 * takes to run; these are the blocks of Unicode that terminals agree on.
 */

/** Marks that stand on the letter before, joiners, variation selectors, and the vowels and finals of Hangul syllables. */
const none = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
/** East Asian wide and full-width characters, and what is shown as an emoji without being asked to. */
const two =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Two of these are one flag. */
const half = /[\u{1f1e6}-\u{1f1ff}]/u;
const joiner = '\u200d';

export function cellsOf(text: string): number {
  let cells = 0;
  let joined = false;
  for (const symbol of text) {
    // What a joiner ties to the picture before is drawn in the same place.
    if (!joined) cells += half.test(symbol) ? 1 : none.test(symbol) ? 0 : two.test(symbol) ? 2 : 1;
    joined = symbol === joiner;
  }
  return cells;
}
