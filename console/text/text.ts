/** The words in the language of the person. */
import { computed, effect, signal } from '@preact/signals';
import { preferences } from '../preferences.ts';
import { type Dictionary, en } from './en.ts';

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

const german = signal<Dictionary | null>(null);

/** Every text, in the language of the person. */
export const text = computed<Dictionary>(() => (language.value === 'de' && german.value) || en);

effect(() => {
  document.documentElement.lang = text.value === en ? 'en' : 'de';
  // Loaded on demand: most of the people who do not read it never load it.
  if (language.value === 'de' && !german.value)
    void import('./de.ts').then(({ de }) => {
      german.value = de;
    });
});
