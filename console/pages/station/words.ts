/** The words of the bench. */
import { dictionary } from '../../text/text.ts';

/** The words of the page, in the language of the person. */
export const benchWords = dictionary({
  en: async () => (await import('./words.en.ts')).en,
  de: async () => (await import('./words.de.ts')).de,
});
