import type { Paint } from './style.ts';

/** A text, with the colon if it is a name, or what is between two texts. */
const part = /"(?:[^"\\]|\\.)*"?(:?)|[^"]+/g;
const literal = /-?\d[\d.eE+-]*|true|false|null/g;

/** JSON with colors for names, texts and other values. Loaded only on a terminal. */
export const colored = (json: string, paint: Paint): string =>
  json.replace(part, (found, colon: string | undefined) => {
    if (!found.startsWith('"'))
      return found.replace(literal, value => paint(value === 'null' ? 'dim' : 'yellow', value));
    return colon ? `${paint('cyan', found.slice(0, -1))}:` : paint('green', found);
  });
