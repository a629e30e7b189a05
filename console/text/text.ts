/** The words in the language of the person. */
import { computed, effect } from '@preact/signals';
import { preferences } from '../preferences.ts';
import { common as de } from './de.ts';
import { common as en } from './en.ts';

/** The languages of the console. */
export const languages = { en: 'English', de: 'Deutsch' } as const;
/** A language of the console. */
export type Language = keyof typeof languages;

const isLanguage = (name: string | undefined): name is Language => name !== undefined && Object.hasOwn(languages, name);

/** The chosen language, else the first of the browser's that the console has. */
export const language = computed<Language>(() => {
  const chosen = preferences.value.language;
  const offered = navigator.languages.map(name => name.split('-')[0]);
  return isLanguage(chosen) ? chosen : (offered.find(isLanguage) ?? 'en');
});

/** The words of a page, in the language of the person; what reads an entry follows changes of the language. */
export const dictionary = <W extends object>(words: Readonly<Record<Language, W>>): W =>
  new Proxy({} as W, { get: (_, entry) => words[language.value][entry as keyof W] });

/** Words that begin with a capital letter. */
export const capitalized = (words: string): string => words.replace(/^./u, first => first.toLocaleUpperCase());

/** Words of sentences, such as those of states, where each stands alone: in menus and beside boxes. */
export const labels = <N extends string>(words: Readonly<Record<N, string>>): Record<N, string> =>
  Object.fromEntries(Object.entries<string>(words).map(([name, word]) => [name, capitalized(word)])) as Record<
    N,
    string
  >;

/** The words that every page needs. */
export const text = dictionary({ en, de });

effect(() => {
  document.documentElement.lang = language.value;
});
