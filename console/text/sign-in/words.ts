/** The words of signing in. */
import { dictionary } from '../text.ts';

/** The words of signing in, in the language of the person. */
export const signInWords = dictionary({
  en: async () => (await import('./words.en.ts')).en,
  de: async () => (await import('./words.de.ts')).de,
});
