/** The words of the list of devices. */
import { dictionary } from '../../text/text.ts';

/** The words of the list, in the language of the person. */
export const listWords = dictionary({
  en: async () => (await import('./words.en.ts')).en,
  de: async () => (await import('./words.de.ts')).de,
});
