/** Most characters of a text in `changes`. */
const shownCharacters = 200;

/** A text in `changes`. */
export function cutText(text: string): string {
  const characters = [...text];
  return characters.length > shownCharacters ? `${characters.slice(0, shownCharacters).join('')}…` : text;
}
