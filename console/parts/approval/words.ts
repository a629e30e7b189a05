/** The words of approvals. */
import { dictionary } from '../../text/text.ts';

/** The words in the language of the person. */
export const words = dictionary({
  en: async () => (await import('./words.en.ts')).en,
  de: async () => (await import('./words.de.ts')).de,
});
