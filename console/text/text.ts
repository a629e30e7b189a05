/** The words in the language of the person. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { preferences } from '../preferences.ts';
import { en } from './en.ts';

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

/**
 * Words in the language of the person. Those of a page are loaded with the page. Another language than English is loaded when it is needed: most of the
 * people who do not read it never load it, and until it is there the words are English.
 */
export function dictionary<T>(english: T, loadGerman: () => Promise<T>): ReadonlySignal<T> {
  const german = signal<T | null>(null);
  effect(() => {
    if (language.value !== 'de' || german.value) return;
    loadGerman().then(
      loaded => {
        german.value = loaded;
      },
      () => {},
    );
  });
  return computed(() => (language.value === 'de' && german.value) || english);
}

/** The words that every page needs. */
export const text = dictionary(en, async () => (await import('./de.ts')).de);

effect(() => {
  document.documentElement.lang = text.value === en ? 'en' : 'de';
});
