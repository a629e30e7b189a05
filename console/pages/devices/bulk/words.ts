/** The words of bulk operations. */
import { dictionary } from '../../../text/text.ts';

/** The words of bulk operations, in the language of the person. */
export const bulkWords = dictionary({
  en: async () => (await import('./words.en.ts')).en,
  de: async () => (await import('./words.de.ts')).de,
});
