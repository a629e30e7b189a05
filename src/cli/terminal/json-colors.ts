import type { Paint } from './style.ts';

const token = /"(?:[^"\\]|\\.)*"(:?)|-?\d[\d.eE+-]*|true|false|null/g;

/** JSON with colors for names, texts and other values. Loaded only on a terminal. */
export const colored = (json: string, paint: Paint): string =>
  json.replace(token, (found, colon: string | undefined) => {
    if (colon) return `${paint('cyan', found.slice(0, -1))}:`;
    return paint(found.startsWith('"') ? 'green' : found === 'null' ? 'dim' : 'yellow', found);
  });
