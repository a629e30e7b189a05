/** The key by which names are equal in upper and lower case: `userId`, `userName` of a person and `username` of an account. */
export const personKey = (name: string): string => name.normalize('NFC').toLowerCase();

/** Letters that have no decomposition into a letter and its accents. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/** The text with the letters without their accents: `é` is `e`. */
export const withoutAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßẞøØłŁđĐðÐþÞæÆœŒı]/g, letter => {
      const plain = plainLetters[letter.toLowerCase()]!;
      return letter === letter.toLowerCase() ? plain : plain.toUpperCase();
    });
/** Whether two names are equal; null equals only null. */
export const isSameName = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && personKey(one) === personKey(other));
