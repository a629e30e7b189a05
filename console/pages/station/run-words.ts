/** The words of a run: what is decided, said and listed. */
import { dictionary } from '../../text/text.ts';

/** The words of a run, in the language of the person. */
export const runWords = dictionary({
  en: async () => (await import('./run-words.en.ts')).en,
  de: async () => (await import('./run-words.de.ts')).de,
});
