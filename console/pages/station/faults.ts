/** Why a file is not a roster, in words. */
import { dictionary } from '../../text/text.ts';

/** What is wrong, in the language of the person. */
export const faultWords = dictionary({
  en: async () => (await import('./faults.en.ts')).en,
  de: async () => (await import('./faults.de.ts')).de,
});
